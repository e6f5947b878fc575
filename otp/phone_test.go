package otp_test

import (
	"errors"
	"testing"

	"github.com/countersign-dev/countersign/otp"
)

// TestCostlyNumbers: without a list, ordinary numbers everywhere are served, and none that
// is charged for what is behind it.
func TestCostlyNumbers(t *testing.T) {
	service, _ := newService(t, nil)
	for number, ok := range map[string]bool{
		// Example numbers of libphonenumber's metadata, commit f7e3e88c9.
		"+19002345678": false, "+1900234567899": false, "+12015550123": true, "+12469760000": false, "+12462501234": true,
		"+449012345678": false, "+448431234567": false, "+447400123456": true, "+4409012345678": false,
		"+499001234567": false, "+49180123456": false, "+4915123456789": true, "+493012345678": true, "+491801234567890": false,
		"+33891123456": false, "+33612345678": true, "+33820123456": false,
		"+39899123456": false, "+393123456789": true, "+34803123456": false, "+34612345678": true,
		"+41900123456": false, "+41781234567": true, "+436641234567": true, "+43900123456": false,
		"+8616012345": false, "+8613123456789": true, "+8616012345678": true, "+862196123456": true,
		"+5511961234567": true, "+5530012345": false, "+919876543210": true, "+9118601234567": false,
		"+81990123456": false, "+819012345678": true, "+61190012345": true, "+611900123456": false, "+61412345678": true,
		"+6581234567": true, "+6519001234567": false, "+37491123456": true, "+2348021234567": true, "+573211234567": true,
		"+79123456789": true, "+78091234567": false, "+77710009998": true,
		// Services without a country.
		"+881612345678": false, "+8816123456": false, "+870301234567": false, "+88213123456": false, "+883510012345": false,
		"+979123456789": false, "+80812345678": false, "+878101234567": false, "+888123456789": false,
	} {
		_, err := service.Prepare(org, orgName, sms(func(r *otp.Request) { r.Contact = number }))
		if ok != (err == nil) || !ok && !errors.Is(err, otp.ErrPhone) {
			t.Errorf("%s: %v, want allowed = %v", number, err, ok)
		}
	}
}

// TestCountries: a list allows what it names, and costly numbers only by name.
func TestCountries(t *testing.T) {
	for _, test := range []struct {
		list    []string
		allowed []string
		refused []string
	}{
		{[]string{"+49", "+1"}, []string{"+4915123456789", "+12015550123"}, []string{"+447400123456", "+499001234567", "+19002345678", "+881612345678"}},
		{[]string{"+88"}, []string{"+8801812345678"}, []string{"+881612345678", "+979123456789"}},
		{[]string{"+881", "+1900"}, []string{"+881612345678", "+19002345678"}, []string{"+12015550123", "+88213123456"}},
		{[]string{"+44", "+449012"}, []string{"+449012345678", "+447400123456"}, []string{"+449112345678"}},
	} {
		service, _ := newService(t, func(c *otp.Config) { c.Countries = test.list })
		try := func(number string) error {
			_, err := service.Prepare(org, orgName, sms(func(r *otp.Request) { r.Contact = number }))
			return err
		}
		for _, number := range test.allowed {
			if err := try(number); err != nil {
				t.Errorf("%v: %s: %v", test.list, number, err)
			}
		}
		for _, number := range test.refused {
			if err := try(number); !errors.Is(err, otp.ErrPhone) {
				t.Errorf("%v: %s: %v", test.list, number, err)
			}
		}
	}
}

// FuzzCountries: no phone number makes the tables fail, and what is costly is refused
// whatever shorter prefix allows the country.
func FuzzCountries(f *testing.F) {
	service, _ := newService(f, func(c *otp.Config) { c.Countries = []string{"+1", "+8", "+9"} })
	for _, seed := range []string{"+19005551234", "+881612345678", "+12015550123", "+", "", "+1234567"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, number string) {
		_, err := service.Prepare(org, orgName, sms(func(r *otp.Request) { r.Contact = number }))
		if err == nil && (number[:2] != "+1" && number[:2] != "+8" && number[:2] != "+9" || number[:4] == "+881" || number[:4] == "+979") {
			t.Errorf("%s is allowed", number)
		}
	})
}

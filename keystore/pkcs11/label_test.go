package pkcs11

import (
	"strings"
	"testing"
)

func TestLabels(t *testing.T) {
	for label, want := range map[string][2]string{
		"org/hot":          {"org", "hot"},
		"org/":             {"org", ""},
		"org/a/b":          {"org", "a/b"},
		"org/50%":          {"org", "50%"},
		"a%2Fb/c":          {"a/b", "c"},
		"100%25/c":         {"100%", "c"},
		"a%252Fb/c":        {"a%2Fb", "c"},
		`org/c "q" <ключ>`: {"org", `c "q" <ключ>`},
	} {
		organization, name, err := settings{}.parseLabel(label)
		if err != nil || organization != want[0] || name != want[1] {
			t.Errorf("%s: %q, %q, %v, want %q", label, organization, name, err, want)
		}
		if again := (settings{}).label(organization, name); again != label {
			t.Errorf("%s is written %s", label, again)
		}
		if _, name, err := (settings{organization: "org"}).parseLabel(label); err != nil || name != label {
			t.Errorf("%s, on a token of one organization: %q, %v", label, name, err)
		}
	}
	for label, want := range map[string]string{
		"hot":      "is not ORGANIZATION/NAME",
		"":         "is not ORGANIZATION/NAME",
		"/hot":     "is not ORGANIZATION/NAME",
		"a%2fb/c":  "has a % that is not %25 or %2F",
		"100%/c":   "has a % that is not %25 or %2F",
		"a%41/c":   "has a % that is not %25 or %2F",
		"org/\xff": "is not UTF-8",
	} {
		if _, _, err := (settings{}).parseLabel(label); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", label, err, want)
		}
	}
}

func TestNewLabels(t *testing.T) {
	long := strings.Repeat("x", maxLabel-len("org/"))
	for _, fine := range [][2]string{{"org", ""}, {"org", long}, {"a/b", "c/d"}} {
		if err := (settings{}).checkNew(fine[0], fine[1]); err != nil {
			t.Errorf("%q: %v", fine, err)
		}
	}
	for want, bad := range map[string][2]string{
		"the organization is empty":                                            {"", "a"},
		"organization and name together are longer than 255 bytes":             {"org", long + "x"},
		"name has the invisible or control character U+0009 at byte 1":         {"org", "a\tb"},
		"organization has the invisible or control character U+0000 at byte 0": {"\x00", "a"},
		"name is not valid UTF-8":                                              {"org", "\xff"},
	} {
		if err := (settings{}).checkNew(bad[0], bad[1]); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", bad, err, want)
		}
	}
	if err := (settings{organization: "org"}).checkNew("other", "a"); err == nil || !strings.Contains(err.Error(), `belongs to organization "org"`) {
		t.Errorf("another organization's token: %v", err)
	}
}

func TestKeyID(t *testing.T) {
	for ckaID, want := range map[string]string{
		"\x01":             "01",
		"0123456789abcdef": "30313233-3435-3637-3839-616263646566",
		"key-1":            "6b65792d31",
	} {
		if got := keyID([]byte(ckaID)); got != want {
			t.Errorf("%q: %s, want %s", ckaID, got, want)
		}
	}
}

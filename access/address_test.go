package access_test

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/stamp"
)

func TestParseNetwork(t *testing.T) {
	for _, test := range []struct{ text, want, refused string }{
		{"10.0.0.0/8", "10.0.0.0/8", ""},
		{"192.0.2.7", "192.0.2.7/32", ""},
		{"2001:db8::/32", "2001:db8::/32", ""},
		{"::1", "::1/128", ""},
		{"0.0.0.0/0", "0.0.0.0/0", ""},
		{"::ffff:10.0.0.0/104", "10.0.0.0/8", ""},
		{"::ffff:192.0.2.7", "192.0.2.7/32", ""},
		{"::ffff:0:0/96", "0.0.0.0/0", ""},
		{"::ffff:10.0.0.0/90", "", "has bits set behind its prefix"},
		{"10.1.2.3/8", "", "write 10.0.0.0/8 for the network, or 10.1.2.3 for the address"},
		{"10.0.0.0/33", "", "neither a network nor an address"},
		{"10.0.0/8", "", "neither a network nor an address"},
		{"010.0.0.1", "", "neither a network nor an address"},
		{"fe80::1%eth0", "", "neither a network nor an address"},
		{" 10.0.0.1", "", "neither a network nor an address"},
		{"10.0.0.1:80", "", "neither a network nor an address"},
		{"localhost", "", "neither a network nor an address"},
		{"", "", "neither a network nor an address"},
	} {
		network, err := access.ParseNetwork(test.text)
		switch {
		case test.refused != "":
			if err == nil || !strings.Contains(err.Error(), test.refused) {
				t.Errorf("%q: %v, want %q", test.text, err, test.refused)
			}
		case err != nil || network.String() != test.want:
			t.Errorf("%q: %v, %v, want %s", test.text, network, err, test.want)
		}
	}
}

func TestWithin(t *testing.T) {
	networks, err := access.ParseNetworks([]string{"10.0.0.0/8", "2001:db8::/32", "fe80::/10"})
	testenv.Must(t, err)
	for text, want := range map[string]bool{
		"10.255.0.1": true, "::ffff:10.1.2.3": true, "2001:db8:1::1": true, "fe80::1%eth0": true,
		"11.0.0.1": false, "::ffff:11.0.0.1": false, "::10.0.0.1": false, "2001:db9::1": false,
	} {
		if access.Within(networks, netip.MustParseAddr(text)) != want {
			t.Errorf("%s is in the networks: want %v", text, want)
		}
	}
	everything := []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")}
	if access.Within(everything, netip.Addr{}) {
		t.Error("a request without an address is in a network")
	}
}

// TestAddressesOfCredentials reads lists of a configuration. The error names the item.
func TestAddressesOfCredentials(t *testing.T) {
	for _, test := range []struct {
		list  []string
		entry string
	}{
		{nil, ""}, {[]string{"10.0.0.0/8", "::1"}, ""},
		{[]string{}, "organizations[0].users[0].apiKeys[0].addresses"},
		{[]string{"10.0.0.0/8", "10.0.0.1/8"}, "organizations[0].users[0].apiKeys[0].addresses[1]"},
	} {
		key := access.APIKeyConfig{Curve: stamp.CurveP256, Addresses: test.list,
			PublicKey:  "0332064cec33af7ac82d026aa17bbb951c6b3a7f4d29bde5f4229eb26a93e2508b",
			Activities: []activity.Type{activity.TypeSignTransaction}}
		_, err := access.NewDirectory([]access.OrganizationConfig{{ID: "o",
			Users: []access.UserConfig{{Name: "u", APIKeys: []access.APIKeyConfig{key}}}}})
		if (err == nil) != (test.entry == "") || err != nil && access.EntryOf(err) != test.entry {
			t.Errorf("%q: %v at %q, want one at %q", test.list, err, access.EntryOf(err), test.entry)
		}
	}
}

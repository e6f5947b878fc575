package countersign_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/wallettest"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/memory"
)

// asked has members of answers, by their names in the API.
type asked struct {
	PrivateKey  askedKey
	PrivateKeys []askedKey
	Wallet      struct{ WalletID, WalletName string }
	Wallets     []struct{ WalletID, WalletName string }
	Account     askedAccount
	Accounts    []askedAccount
	User        askedUser
	Users       []askedUser

	OrganizationData struct {
		OrganizationID, Name string
		Users                []askedUser
		PrivateKeys          []askedKey
		Wallets              []struct{ WalletID string }
	}
}

type askedKey struct {
	PrivateKeyID, PrivateKeyName, PublicKey, Curve string
	Addresses                                      []struct{ Format, Address string }
}

type askedAccount struct {
	WalletAccountID, WalletID, Path, AddressFormat, Address, PublicKey string
	WalletDetails                                                      *struct{ WalletName string }
}

type askedUser struct {
	UserID, UserName string
	UserTags         []string
	APIKeys          []struct {
		Credential struct{ PublicKey, Type string }
	}
	Authenticators []struct{ CredentialID string }
}

// ask asks a query by a key. more are members of the body.
func ask(t *testing.T, engine *countersign.Engine, by *enginetest.APIKey, path, more string) (asked, error) {
	t.Helper()
	text, err := engine.Inventory(t.Context(), path, by.Sign(fmt.Sprintf(`{"organizationId":%q%s}`, enginetest.Organization, more)))
	var answer asked
	if err == nil {
		testenv.JSON(t, text, &answer)
		if strings.Contains(strings.ToLower(string(text)), enginetest.Secret) {
			t.Errorf("%s: the answer has a secret", path)
		}
	}
	return answer, err
}

// withHot has the key key-1 and a wallet of two keys.
func withHot(t *testing.T) *enginetest.Fixture {
	t.Helper()
	return enginetest.New(t, func(config *countersign.Config) {
		keys := config.Keystore.(*enginetest.CountingKeystore).Keystore.(*memory.Store)
		for i, curve := range []keystore.Curve{keystore.CurveSecp256k1, keystore.CurveEd25519, keystore.CurveSecp256k1} {
			id := fmt.Sprintf("hot-%d", i)
			if _, err := keys.Add(t.Context(), enginetest.Organization, keystore.NewKey{ID: id, Name: "name of " + id, Curve: curve, Secret: []byte(strings.Repeat(string(rune('a'+i)), 32))}); err != nil {
				t.Fatal(err)
			}
		}
		wallettest.With(t, map[string]string{"hot-0": "m/84'/0'/0'/0/0", "hot-1": "m/44'/501'/0'/0'", "hot-2": "m/7/8/9"})(config)
	})
}

func TestInventory(t *testing.T) {
	f := withHot(t)
	must := func(path, more string) asked {
		t.Helper()
		answer, err := ask(t, f.Engine, f.APIKey, path, more)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		return answer
	}
	key := must("get_private_key", `,"privateKeyId":"key-1"`).PrivateKey
	if key.PrivateKeyID != "key-1" || key.Curve != "CURVE_SECP256K1" || len(key.PublicKey) != 66 || len(key.Addresses) < 10 {
		t.Errorf("%+v", key)
	}
	formats := map[string]string{}
	for _, one := range key.Addresses {
		if formats[one.Format] != "" {
			t.Errorf("two addresses of %s", one.Format)
		}
		formats[one.Format] = one.Address
	}
	if formats["ADDRESS_FORMAT_ETHEREUM"] != enginetest.Address || !strings.HasPrefix(formats["ADDRESS_FORMAT_BITCOIN_MAINNET_P2TR"], "bc1p") || !strings.HasPrefix(formats["ADDRESS_FORMAT_TRON"], "T") {
		t.Errorf("addresses %v", formats)
	}
	if hot := must("get_private_key", `,"privateKeyId":"hot-0"`).PrivateKey; hot.PrivateKeyName != "name of hot-0" {
		t.Errorf("a key of a wallet: %+v", hot)
	}
	if keys := must("list_private_keys", "").PrivateKeys; len(keys) != 2 || keys[0].PrivateKeyID != "key-1" || keys[1].PrivateKeyID != "key-2" {
		t.Errorf("%+v", keys)
	}
	if wallets := must("list_wallets", "").Wallets; len(wallets) != 1 || wallets[0].WalletID != wallettest.ID || wallets[0].WalletName != "hot" {
		t.Errorf("%+v", wallets)
	}
	if wallet := must("get_wallet", `,"walletId":"wallet-1"`).Wallet; wallet.WalletName != "hot" {
		t.Errorf("%+v", wallet)
	}
	whole := must("get_organization", "").OrganizationData
	if whole.Name != "Example" || len(whole.PrivateKeys) != 2 || len(whole.Wallets) != 1 || len(whole.Users) != 1 || whole.Users[0].UserID != "user-1" {
		t.Errorf("%+v", whole)
	}
}

func TestInventoryAccounts(t *testing.T) {
	f := withHot(t)
	must := func(path, more string) asked {
		t.Helper()
		answer, err := ask(t, f.Engine, f.APIKey, path, more)
		if err != nil {
			t.Fatalf("%s%s: %v", path, more, err)
		}
		return answer
	}
	all := must("list_wallet_accounts", `,"includeWalletDetails":true`).Accounts
	if len(all) != 3 || all[0].AddressFormat != "ADDRESS_FORMAT_BITCOIN_MAINNET_P2WPKH" || !strings.HasPrefix(all[0].Address, "bc1q") ||
		all[1].AddressFormat != "ADDRESS_FORMAT_SOLANA" || all[2].Address == "" || all[0].WalletDetails == nil || all[0].WalletDetails.WalletName != "hot" {
		t.Fatalf("%+v", all)
	}
	for more, want := range map[string]string{
		"":                                   "hot-0 hot-1 hot-2",
		`,"walletId":"wallet-1"`:             "hot-0 hot-1 hot-2",
		`,"walletId":"other"`:                "",
		`,"paginationOptions":{"limit":"2"}`: "hot-0 hot-1",
		`,"paginationOptions":{"limit":"2","after":"hot-1"}`:  "hot-2",
		`,"paginationOptions":{"after":"hot-2"}`:              "",
		`,"paginationOptions":{"after":"none"}`:               "",
		`,"paginationOptions":{"limit":"1","before":"hot-2"}`: "hot-1",
		`,"paginationOptions":{"before":"hot-0"}`:             "",
		`,"paginationOptions":{"before":"none"}`:              "",
	} {
		var ids []string
		for _, one := range must("list_wallet_accounts", more).Accounts {
			ids = append(ids, one.WalletAccountID)
			if one.WalletDetails != nil {
				t.Errorf("%s: details that were not asked for", more)
			}
		}
		if got := strings.Join(ids, " "); got != want {
			t.Errorf("%s: %q, want %q", more, got, want)
		}
	}
	for _, more := range []string{`,"path":"m/44'/501'/0'/0'"`, `,"address":"` + all[1].Address + `"`} {
		if one := must("get_wallet_account", `,"walletId":"wallet-1"`+more).Account; one.WalletAccountID != "hot-1" {
			t.Errorf("%s: %+v", more, one)
		}
	}
}

// TestInventoryOfOthers: who may not sign sees no key, no wallet and no other user; nor does
// anybody see what another organization has, by its id or not.
func TestInventoryOfOthers(t *testing.T) {
	f := withHot(t)
	for _, test := range []struct {
		by         *enginetest.APIKey
		path, more string
		reason     activity.Reason
	}{
		{f.OTPOnly, "get_private_key", `,"privateKeyId":"key-1"`, activity.ReasonNotFound},
		{f.OTPOnly, "get_wallet", `,"walletId":"wallet-1"`, activity.ReasonNotFound},
		{f.OTPOnly, "get_wallet_account", `,"walletId":"wallet-1","path":"m/84'/0'/0'/0/0"`, activity.ReasonNotFound},
		{f.OTPOnly, "get_user", `,"userId":"user-1"`, activity.ReasonNotFound},
		{f.APIKey, "get_private_key", `,"privateKeyId":"none"`, activity.ReasonNotFound},
		{f.APIKey, "get_private_key", `,"privateKeyId":""`, activity.ReasonNotFound},
		{f.APIKey, "get_wallet", `,"walletId":"hot"`, activity.ReasonNotFound},
		{f.APIKey, "get_wallet_account", `,"walletId":"wallet-1","address":"none"`, activity.ReasonNotFound},
		{f.APIKey, "get_wallet_account", `,"walletId":"wallet-1"`, activity.ReasonRequestInvalid},
		{f.APIKey, "get_wallet_account", `,"walletId":"wallet-1","address":"a","path":"m"`, activity.ReasonRequestInvalid},
		{f.APIKey, "get_user", `,"userId":"user-2"`, activity.ReasonNotFound},
		{f.APIKey, "get_user", ``, activity.ReasonRequestInvalid},
		{f.APIKey, "list_users", `,"userId":"user-1"`, activity.ReasonRequestInvalid},
		{f.APIKey, "list_wallet_accounts", `,"paginationOptions":{"limit":"101"}`, activity.ReasonRequestInvalid},
		{f.APIKey, "list_wallet_accounts", `,"paginationOptions":{"before":"a","after":"b"}`, activity.ReasonRequestInvalid},
		{f.APIKey, "list_wallets", fmt.Sprintf(`,"timestampMs":"%d"`, f.Clock.Now().Add(-2*countersign.DefaultMaxRequestAge).UnixMilli()), activity.ReasonInvalidTime},
		{f.Other, "list_private_keys", "", activity.ReasonSignatureInvalid},
		{f.Expired, "list_private_keys", "", activity.ReasonSignatureInvalid},
		{f.APIKey, "export_private_key", "", activity.ReasonNotFound},
	} {
		_, err := ask(t, f.Engine, test.by, test.path, test.more)
		enginetest.Refusal(t, err, test.reason, "")
	}
	none, err := ask(t, f.Engine, f.OTPOnly, "get_organization", "")
	if whole := none.OrganizationData; err != nil || len(whole.PrivateKeys)+len(whole.Wallets) != 0 || len(whole.Users) != 1 || whole.Users[0].UserID != "user-2" {
		t.Errorf("%+v, %v", whole, err)
	}
	for _, path := range []string{"list_private_keys", "list_wallets", "list_wallet_accounts"} {
		if none, err := ask(t, f.Engine, f.OTPOnly, path, ""); err != nil || len(none.PrivateKeys)+len(none.Wallets)+len(none.Accounts) != 0 {
			t.Errorf("%s: %+v, %v", path, none, err)
		}
	}
	ours, err := f.Engine.Inventory(t.Context(), "list_private_keys", f.Other.Sign(fmt.Sprintf(`{"organizationId":%q}`, enginetest.OtherOrganization)))
	if err != nil || string(ours) != `{"privateKeys":[]}` {
		t.Errorf("another organization: %s, %v", ours, err)
	}
}

// TestInventoryOfUsers: a user sees itself with the credential that asks, and not its others.
func TestInventoryOfUsers(t *testing.T) {
	f := withHot(t)
	users, err := ask(t, f.Engine, f.APIKey, "list_users", "")
	if err != nil || len(users.Users) != 1 {
		t.Fatalf("%+v, %v", users, err)
	}
	one, err := ask(t, f.Engine, f.APIKey, "get_user", `,"userId":"user-1"`)
	if err != nil || one.User.UserName != "ci" || len(one.User.APIKeys) != 1 || len(one.User.Authenticators) != 0 ||
		one.User.APIKeys[0].Credential.PublicKey != f.APIKey.PublicKey || one.User.APIKeys[0].Credential.Type != "CREDENTIAL_TYPE_API_KEY_P256" {
		t.Errorf("%+v, %v", one, err)
	}
}

// TestInventoryTellsTypes: each type that signs shows the keys, no other does.
func TestInventoryTellsTypes(t *testing.T) {
	for _, kind := range activity.Types() {
		key := enginetest.NewAPIKey(t)
		config := key.Config()
		config.Activities = []activity.Type{kind}
		if kind == activity.TypeHalt {
			config.Activities = append(config.Activities, activity.TypeResume) // no halt without its end
		}
		directory, err := access.NewDirectory([]access.OrganizationConfig{{ID: enginetest.Organization, Resume: access.ResumeConfig{Approvals: 1},
			Users: []access.UserConfig{{Name: "ci", APIKeys: []access.APIKeyConfig{config}}}}})
		testenv.Must(t, err)
		f := enginetest.New(t, func(c *countersign.Config) { c.Directory = directory })
		got, err := ask(t, f.Engine, key, "list_private_keys", "")
		if err != nil || (len(got.PrivateKeys) == 2) != kind.Signs() {
			t.Errorf("%s: %+v, %v", kind, got, err)
		}
	}
}

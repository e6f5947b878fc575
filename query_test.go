package countersign_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/enginetest"
)

func getBody(organizationID, id string) string {
	return fmt.Sprintf(`{"organizationId":%q,"activityId":%q}`, organizationID, id)
}

func TestGetActivity(t *testing.T) {
	f := enginetest.New(t)
	record := enginetest.MustSubmit(t, f.Engine, f.APIKey.Sign(f.Body(enginetest.Request{})))
	body := getBody(enginetest.Organization, record.ID)
	found, err := f.Engine.GetActivity(t.Context(), f.APIKey.Sign(body))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := found.AppendAnswer(nil), record.AppendAnswer(nil); !bytes.Equal(got, want) {
		t.Errorf("answered\n%s\nand when it was submitted\n%s", got, want)
	}
	_, err = f.Engine.GetActivity(t.Context(), f.OTPOnly.Sign(body))
	hidden := enginetest.Refusal(t, err, activity.ReasonNotFound, record.ID)
	_, err = f.Engine.GetActivity(t.Context(), f.OTPOnly.Sign(getBody(enginetest.Organization, "nothing")))
	absent := enginetest.Refusal(t, err, activity.ReasonNotFound, "nothing")
	if hidden.Code != absent.Code || hidden.Field != absent.Field {
		t.Error("an activity that is hidden is told from one that is not there")
	}
	_, err = f.Engine.GetActivity(t.Context(), f.Other.Sign(getBody(enginetest.OtherOrganization, record.ID)))
	enginetest.Refusal(t, err, activity.ReasonNotFound, "")
	_, err = f.Engine.GetActivity(t.Context(), f.Other.Sign(body))
	enginetest.Refusal(t, err, activity.ReasonSignatureInvalid, "")
	_, err = f.Engine.GetActivity(t.Context(), f.APIKey.Sign(`{"organizationId":"x"}`))
	enginetest.Refusal(t, err, activity.ReasonRequestInvalid, "activityId")
}

func TestWhoAmI(t *testing.T) {
	f := enginetest.New(t)
	body := fmt.Sprintf(`{"organizationId":%q}`, enginetest.Organization)
	got, err := f.Engine.WhoAmI(t.Context(), f.APIKey.Sign(body))
	want := activity.WhoAmI{OrganizationID: enginetest.Organization, OrganizationName: "Example", UserID: "user-1", Username: "ci"}
	if err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	_, err = f.Engine.WhoAmI(t.Context(), f.Other.Sign(body))
	enginetest.Refusal(t, err, activity.ReasonSignatureInvalid, "")
	sent := f.APIKey.Sign(body)
	sent.Stamps = nil
	_, err = f.Engine.WhoAmI(t.Context(), sent)
	enginetest.Refusal(t, err, activity.ReasonSignatureMissing, "")
}

// TestGetPrivateKey: a key's public side is shown to those who may sign, and to no other
// organization.
func TestGetPrivateKey(t *testing.T) {
	f := enginetest.New(t)
	body := func(id string) string {
		return fmt.Sprintf(`{"organizationId":%q,"privateKeyId":%q}`, enginetest.Organization, id)
	}
	for id, want := range map[string]struct{ curve, format, address string }{
		"key-1": {"CURVE_SECP256K1", "ADDRESS_FORMAT_ETHEREUM", enginetest.Address},
		"key-2": {"CURVE_ED25519", "ADDRESS_FORMAT_SOLANA", ""},
	} {
		key, err := f.Engine.GetPrivateKey(t.Context(), f.APIKey.Sign(body(id)))
		if err != nil {
			t.Fatal(err)
		}
		seen := map[activity.KeyAddress]bool{}
		shown := ""
		for _, address := range key.Addresses {
			if seen[address] {
				t.Errorf("%s: %+v twice", id, address)
			}
			seen[address] = true
			if address.Format == want.format {
				shown = address.Address
			}
		}
		if key.ID != id || key.Curve != want.curve || shown == "" || want.address != "" && shown != want.address {
			t.Errorf("%+v, want %+v", key, want)
		}
		if answer := string(key.AppendAnswer(nil)); !strings.HasPrefix(answer, `{"privateKey":{"privateKeyId":"`+id+`","publicKey":"`+key.PublicKey+`"`) || strings.Contains(answer, enginetest.Secret) {
			t.Errorf("%s", answer)
		}
	}
	_, err := f.Engine.GetPrivateKey(t.Context(), f.APIKey.Sign(body("key-9")))
	enginetest.Refusal(t, err, activity.ReasonNotFound, `no key "key-9"`)
	_, err = f.Engine.GetPrivateKey(t.Context(), f.OTPOnly.Sign(body("key-1")))
	enginetest.Refusal(t, err, activity.ReasonNotAuthorized, "may not sign anything")
	_, err = f.Engine.GetPrivateKey(t.Context(), f.Other.Sign(body("key-1")))
	enginetest.Refusal(t, err, activity.ReasonSignatureInvalid, "")
	_, err = f.Engine.GetPrivateKey(t.Context(), f.Other.Sign(fmt.Sprintf(`{"organizationId":%q,"privateKeyId":"key-1"}`, enginetest.OtherOrganization)))
	enginetest.Refusal(t, err, activity.ReasonNotFound, "")
	_, err = f.Engine.GetPrivateKey(t.Context(), f.APIKey.Sign(`{"organizationId":"x"}`))
	enginetest.Refusal(t, err, activity.ReasonRequestInvalid, "privateKeyId")
}

func TestReady(t *testing.T) {
	f := enginetest.New(t)
	if err := f.Engine.Ready(t.Context()); err != nil {
		t.Error(err)
	}
	if err := f.Engine.Close(); err != nil {
		t.Fatal(err)
	}
	enginetest.Refusal(t, f.Engine.Ready(t.Context()), activity.ReasonUnavailable, "")
}

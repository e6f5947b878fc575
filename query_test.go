package countersign_test

import (
	"bytes"
	"fmt"
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

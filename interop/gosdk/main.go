// Command gosdk runs the public Go client of the hosted service, unmodified, against our
// server. It is a module of its own, so that the library does not depend on that client.
//
// It reads one JSON object {host, organizationId, apiPrivateKey, signWith,
// unsignedTransaction} and prints {signed, activityId, found, username, refusal}. With
// voterPrivateKey, that key votes on what the other one submits, and it prints {steps}.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/go-openapi/strfmt"
	sdk "github.com/tkhq/go-sdk"
	"github.com/tkhq/go-sdk/pkg/api/client"
	"github.com/tkhq/go-sdk/pkg/api/client/sessions"
	"github.com/tkhq/go-sdk/pkg/api/client/signing"
	"github.com/tkhq/go-sdk/pkg/api/models"
	"github.com/tkhq/go-sdk/pkg/apikey"
)

type question struct {
	Host, OrganizationID, APIPrivateKey, VoterPrivateKey, SignWith, UnsignedTransaction string
}

type answer struct {
	Signed     string `json:"signed"`
	ActivityID string `json:"activityId"`
	Found      string `json:"found"`
	Username   string `json:"username"`
	Refusal    string `json:"refusal"`
	Steps      []step `json:"steps"`
}

// shown keeps what the client logs: its errors have the status only, and it is
// its log that shows an answer's text.
type shown struct{ lines []string }

func (s *shown) Printf(format string, args ...any) {
	s.lines = append(s.lines, fmt.Sprintf(format, args...))
}

func main() {
	if err := run(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(in io.Reader, out io.Writer) error {
	var asked question
	if err := json.NewDecoder(in).Decode(&asked); err != nil {
		return err
	}
	log := new(shown)
	c, err := clientOf(&asked, asked.APIPrivateKey, log)
	if err != nil {
		return err
	}
	var got answer
	if asked.VoterPrivateKey != "" {
		voter, err := clientOf(&asked, asked.VoterPrivateKey, log)
		if err == nil {
			got.Steps, err = voted(c, voter, &asked)
		}
		if err != nil {
			return fmt.Errorf("%w: %s", err, strings.Join(log.lines, "\n"))
		}
		return json.NewEncoder(out).Encode(got)
	}
	if err := errors.Join(signed(c, &asked, &got), queried(c, &asked, &got), refused(c, asked)); err != nil {
		return err
	}
	got.Refusal = strings.Join(log.lines, "\n")
	return json.NewEncoder(out).Encode(got)
}

// clientOf returns a client with an API key.
func clientOf(asked *question, private string, log *shown) (*sdk.Client, error) {
	key, err := apikey.FromTurnkeyPrivateKey(private, apikey.SchemeP256)
	if err != nil {
		return nil, err
	}
	return sdk.New(sdk.WithAPIKey(key), sdk.WithLogger(log),
		sdk.WithTransportConfig(client.TransportConfig{Host: asked.Host, BasePath: "/", Schemes: []string{"http"}}))
}

func sign(c *sdk.Client, asked *question) (*models.Activity, error) {
	now := strconv.FormatInt(time.Now().UnixMilli(), 10)
	intent := &models.SignTransactionIntentV2{
		SignWith: &asked.SignWith, UnsignedTransaction: &asked.UnsignedTransaction,
		Type: models.TransactionTypeEthereum.Pointer(),
	}
	kind := string(models.ActivityTypeSignTransactionV2)
	params := signing.NewSignTransactionParams().WithBody(&models.SignTransactionRequest{
		OrganizationID: &asked.OrganizationID, TimestampMs: &now, Type: &kind, Parameters: intent,
	})
	response, err := c.V0().Signing.SignTransaction(params, c.Authenticator)
	if err != nil {
		return nil, err
	}
	if err := response.Payload.Validate(strfmt.Default); err != nil {
		return nil, fmt.Errorf("validate: %w", err)
	}
	return response.Payload.Activity, nil
}

func signed(c *sdk.Client, asked *question, got *answer) error {
	made, err := sign(c, asked)
	if err != nil {
		return err
	}
	got.ActivityID, got.Signed = *made.ID, *made.Result.SignTransactionResult.SignedTransaction
	return nil
}

func queried(c *sdk.Client, asked *question, got *answer) error {
	found, err := read(c, asked, got.ActivityID)
	if err != nil {
		return err
	}
	got.Found = *found.Result.SignTransactionResult.SignedTransaction
	who, err := c.V0().Sessions.GetWhoami(sessions.NewGetWhoamiParams().WithBody(&models.GetWhoamiRequest{OrganizationID: &asked.OrganizationID}), c.Authenticator)
	if err != nil {
		return err
	}
	if err := who.Payload.Validate(strfmt.Default); err != nil {
		return fmt.Errorf("validate: %w", err)
	}
	got.Username = *who.Payload.Username
	return nil
}

// refused has a truncated transaction refused.
func refused(c *sdk.Client, asked question) error {
	asked.UnsignedTransaction = asked.UnsignedTransaction[:6]
	if _, err := sign(c, &asked); err == nil {
		return errors.New("a cut transaction was signed")
	}
	return nil
}

// Command gosdk runs the unmodified public Go client of the hosted service against our
// server. It is a module of its own, so that the library does not depend on that client.
//
// It reads one JSON object {host, organizationId, apiPrivateKey, signWith,
// unsignedTransaction} and prints {signed, activityId, found, username, refusal}. If the
// object has a voterPrivateKey, that key votes on what the other key submits, and the
// command prints {steps}.
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

type request struct {
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

// recorder keeps the client's log. The client's errors have only the status, and the text of
// an error answer is in the log.
type recorder struct{ lines []string }

func (r *recorder) Printf(format string, args ...any) {
	r.lines = append(r.lines, fmt.Sprintf(format, args...))
}

func main() {
	if err := run(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(in io.Reader, out io.Writer) error {
	var req request
	if err := json.NewDecoder(in).Decode(&req); err != nil {
		return err
	}
	log := new(recorder)
	c, err := clientOf(&req, req.APIPrivateKey, log)
	if err != nil {
		return err
	}
	var got answer
	if req.VoterPrivateKey != "" {
		voter, err := clientOf(&req, req.VoterPrivateKey, log)
		if err == nil {
			got.Steps, err = voted(c, voter, &req)
		}
		if err != nil {
			return fmt.Errorf("%w: %s", err, strings.Join(log.lines, "\n"))
		}
		return json.NewEncoder(out).Encode(got)
	}
	if err := errors.Join(signed(c, &req, &got), queried(c, &req, &got), refused(c, req)); err != nil {
		return err
	}
	got.Refusal = strings.Join(log.lines, "\n")
	return json.NewEncoder(out).Encode(got)
}

// clientOf returns a client with an API key.
func clientOf(req *request, private string, log *recorder) (*sdk.Client, error) {
	key, err := apikey.FromTurnkeyPrivateKey(private, apikey.SchemeP256)
	if err != nil {
		return nil, err
	}
	return sdk.New(sdk.WithAPIKey(key), sdk.WithLogger(log),
		sdk.WithTransportConfig(client.TransportConfig{Host: req.Host, BasePath: "/", Schemes: []string{"http"}}))
}

func sign(c *sdk.Client, req *request) (*models.Activity, error) {
	now := strconv.FormatInt(time.Now().UnixMilli(), 10)
	intent := &models.SignTransactionIntentV2{
		SignWith: &req.SignWith, UnsignedTransaction: &req.UnsignedTransaction,
		Type: models.TransactionTypeEthereum.Pointer(),
	}
	kind := string(models.ActivityTypeSignTransactionV2)
	params := signing.NewSignTransactionParams().WithBody(&models.SignTransactionRequest{
		OrganizationID: &req.OrganizationID, TimestampMs: &now, Type: &kind, Parameters: intent,
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

func signed(c *sdk.Client, req *request, got *answer) error {
	activity, err := sign(c, req)
	if err != nil {
		return err
	}
	got.ActivityID, got.Signed = *activity.ID, *activity.Result.SignTransactionResult.SignedTransaction
	return nil
}

func queried(c *sdk.Client, req *request, got *answer) error {
	found, err := read(c, req, got.ActivityID)
	if err != nil {
		return err
	}
	got.Found = *found.Result.SignTransactionResult.SignedTransaction
	params := sessions.NewGetWhoamiParams().WithBody(&models.GetWhoamiRequest{OrganizationID: &req.OrganizationID})
	who, err := c.V0().Sessions.GetWhoami(params, c.Authenticator)
	if err != nil {
		return err
	}
	if err := who.Payload.Validate(strfmt.Default); err != nil {
		return fmt.Errorf("validate: %w", err)
	}
	got.Username = *who.Payload.Username
	return nil
}

// refused checks that a truncated transaction is refused.
func refused(c *sdk.Client, req request) error {
	req.UnsignedTransaction = req.UnsignedTransaction[:6]
	if _, err := sign(c, &req); err == nil {
		return errors.New("a truncated transaction was signed")
	}
	return nil
}

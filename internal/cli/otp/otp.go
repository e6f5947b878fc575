// Package otp is the command otp.
package otp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/activity"
	api "github.com/countersign-dev/countersign/client"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/internal/cli/terminal"
	"github.com/countersign-dev/countersign/otp"
)

// NewCommand returns the command otp.
func NewCommand() *cobra.Command {
	return console.Group("otp", "Exchange one-time passwords for verification tokens",
		"Exchange one-time passwords for verification tokens.\n",
		newOTPVerifyCommand())
}

func newOTPVerifyCommand() *cobra.Command {
	var to deployment.Client
	var id string
	command := &cobra.Command{
		Use:   "verify",
		Short: "Exchange a one-time password for a verification token",
		Long: console.Paragraphs(`
Read a one-time password from standard input, or from the terminal without echo,
submit it, and print the verification token:

  {"verificationToken":"…"}`),
		Example: "  countersign otp verify --url http://127.0.0.1:8080 --api-key api-key.json --otp-id 0198…",
		Args:    console.StdinArgs("code"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := to.Open(cmd.Context()); err != nil {
				return err
			}
			code, err := readCode(cmd)
			if err != nil {
				return err
			}
			redeemed, err := Redeem(cmd.Context(), &to, id, code)
			if err != nil {
				return err
			}
			return console.PrintJSON(cmd.OutOrStdout(), redeemed)
		},
	}
	to.Register(command)
	command.Flags().StringVar(&id, "otp-id", "", "`ID` of the one-time password: the otpId from the answer to init_otp_auth")
	console.Require(command, "otp-id", "the otpId from the answer to init_otp_auth")
	return command
}

func readCode(cmd *cobra.Command) (string, error) {
	const limit = otp.MaxLength + 64 // with some white space
	read := func(ctx context.Context) ([]byte, error) { return console.ReadAll(ctx, cmd.InOrStdin(), limit) }
	if terminal.Is(cmd.InOrStdin()) {
		read = func(ctx context.Context) ([]byte, error) { return console.AskSecret(ctx, "Code") }
	}
	code, err := read(cmd.Context())
	if err != nil {
		return "", fmt.Errorf("read the code: %w", err)
	}
	trimmed := string(bytes.TrimSpace(code))
	if trimmed == "" {
		return "", errors.New("read the code: it is empty")
	}
	return trimmed, nil
}

// Redeem submits a code and returns the verification token.
func Redeem(ctx context.Context, to *deployment.Client, id, code string) (redeemed activity.VerifyOTPResult, err error) {
	request, err := activity.NewRequest(
		activity.Envelope{OrganizationID: to.By.OrganizationID, Time: time.Now()},
		activity.VerifyOTPIntent{OTPID: id, OTPCode: code})
	if err != nil {
		return redeemed, err
	}
	answer, err := to.Post(ctx, "submit/verify_otp", request.Body)
	if err != nil {
		return redeemed, err
	}
	done, err := api.ParseActivity(answer)
	if err != nil {
		return redeemed, err
	}
	if done.Result.VerifyOTP == nil || done.Result.VerifyOTP.VerificationToken == "" {
		return redeemed, errors.New("the answer has no verificationToken")
	}
	return *done.Result.VerifyOTP, nil
}

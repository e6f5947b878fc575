package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/cmd/countersign/internal/terminal"
	"github.com/countersign-dev/countersign/otp"
)

func newOTPCommand() *cobra.Command {
	command := &cobra.Command{
		Use:   "otp",
		Short: "Redeem one-time passwords",
		Long:  "Exchange one-time passwords for verification tokens.\n",
		Args:  commandOnly,
		RunE:  chooseCommand,
	}
	command.AddCommand(newOTPVerifyCommand())
	return command
}

func newOTPVerifyCommand() *cobra.Command {
	var to client
	var id string
	command := &cobra.Command{
		Use:   "verify",
		Short: "Redeem a one-time password for a verification token",
		Long: paragraphs(`
Read a one-time password from standard input, or from the terminal, where it is
not shown, submit it, and print what it was redeemed for:

  {"verificationToken":"…"}`),
		Example: "  countersign otp verify --url http://127.0.0.1:8080 --api-key api-key.json --otp-id 0198c5b4-7c9e-7d3a-9a5e-0c1f2e3d4b5a",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if id == "" {
				return usagef("--otp-id is missing: the otpId that init_otp_auth was answered with")
			}
			if err := to.open(cmd.Context()); err != nil {
				return err
			}
			code, err := readCode(cmd)
			if err != nil {
				return err
			}
			redeemed, err := redeem(cmd.Context(), &to, id, code)
			if err != nil {
				return err
			}
			return printJSON(cmd.OutOrStdout(), redeemed)
		},
	}
	to.register(command)
	command.Flags().StringVar(&id, "otp-id", "", "`ID` of the one-time password: the otpId that init_otp_auth was answered with")
	return command
}

// readCode reads the code from standard input or the terminal.
func readCode(cmd *cobra.Command) (string, error) {
	const most = otp.MaxLength + 64 // with some white space
	read := func(ctx context.Context) ([]byte, error) { return readAll(ctx, cmd.InOrStdin(), most) }
	if terminal.Is(cmd.InOrStdin()) {
		read = askCode
	}
	code, err := read(cmd.Context())
	if err != nil {
		return "", fmt.Errorf("read the code: %w", err)
	}
	trimmed := string(bytes.TrimSpace(code))
	if trimmed == "" {
		return "", errors.New("read the code: there is none")
	}
	return trimmed, nil
}

func askCode(ctx context.Context) ([]byte, error) {
	tty, err := terminal.Open()
	if err != nil {
		return nil, err
	}
	defer func() { _ = tty.Close() }()
	return tty.Secret(ctx, "Code")
}

// redeem submits a code.
func redeem(ctx context.Context, to *client, id, code string) (redeemed activity.VerifyOTPResult, err error) {
	type parameters struct {
		OTPID   string `json:"otpId"`
		OTPCode string `json:"otpCode"`
	}
	body := jsonLine(struct {
		Type           activity.Type `json:"type"`
		TimestampMs    string        `json:"timestampMs"`
		OrganizationID string        `json:"organizationId"`
		Parameters     parameters    `json:"parameters"`
	}{activity.TypeVerifyOTP, strconv.FormatInt(time.Now().UnixMilli(), 10), to.by.organizationID, parameters{id, code}})
	answer, err := to.post(ctx, "submit/verify_otp", body)
	if err != nil {
		return redeemed, err
	}
	var answered struct {
		Activity struct {
			Result struct {
				VerifyOTPResult activity.VerifyOTPResult `json:"verifyOtpResult"`
			} `json:"result"`
		} `json:"activity"`
	}
	if err := json.Unmarshal(answer, &answered); err != nil {
		return redeemed, fmt.Errorf("the answer cannot be read: %w", err)
	}
	if redeemed = answered.Activity.Result.VerifyOTPResult; redeemed.VerificationToken == "" {
		return redeemed, errors.New("the answer has no verificationToken")
	}
	return redeemed, nil
}

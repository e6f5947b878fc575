package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/cmd/countersign/internal/terminal"
)

func newOTPCommand() *cobra.Command {
	command := &cobra.Command{Use: "otp", Short: "Redeem one-time passwords", Args: cobra.NoArgs, RunE: chooseCommand}
	command.AddCommand(newOTPVerifyCommand())
	return command
}

// maxTyped is how long what is typed as a code may be.
const maxTyped = 64

func newOTPVerifyCommand() *cobra.Command {
	var keyFile, url, id string
	command := &cobra.Command{
		Use:   "verify",
		Short: "Redeem a one-time password at a server",
		Long: paragraphs(`
Redeem a one-time password. The code is asked for on the terminal, or read from
standard input if that is none; it is never an argument. The output is
{"verificationToken":"…"}.`),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runOTPVerify(cmd, keyFile, url, id) },
	}
	registerAPIKey(command, &keyFile)
	registerURL(command, &url)
	command.Flags().StringVar(&id, "otp-id", "", "`ID` of the one-time password")
	return command
}

func runOTPVerify(cmd *cobra.Command, keyFile, url, id string) error {
	if url == "" || id == "" {
		return usagef("--url and --otp-id are needed")
	}
	key, err := readAPIKey(cmd.Context(), keyFile)
	if err != nil {
		return err
	}
	code, err := readCode(cmd)
	if err != nil {
		return err
	}
	body := fmt.Appendf(nil, `{"type":%s,"timestampMs":"%d","organizationId":%s,"parameters":{"otpId":%s,"otpCode":%s}}`,
		jsonLine(activity.TypeVerifyOTP), time.Now().UnixMilli(), jsonLine(key.organizationID), jsonLine(id), jsonLine(code))
	answer, err := key.submit(cmd, url, body)
	if err != nil {
		return explainAnswer(answer, err)
	}
	return printToken(cmd, answer)
}

// readCode reads what the user has been sent.
func readCode(cmd *cobra.Command) (string, error) {
	if terminal.Is(cmd.InOrStdin()) {
		tty, err := terminal.Open()
		if err != nil {
			return "", err
		}
		defer func() { _ = tty.Close() }()
		typed, err := tty.Secret(cmd.Context(), "One-time password")
		return string(bytes.TrimSpace(typed)), err
	}
	typed, err := readAll(cmd.Context(), cmd.InOrStdin(), maxTyped)
	if err != nil {
		return "", fmt.Errorf("read the code from standard input: %w", err)
	}
	return string(bytes.TrimSpace(typed)), nil
}

// explainAnswer adds the server's own words to a refusal.
func explainAnswer(answer []byte, err error) error {
	var refusal struct{ Message string }
	if json.Unmarshal(answer, &refusal) == nil && refusal.Message != "" {
		return fmt.Errorf("%w: %s", err, refusal.Message)
	}
	return err
}

func printToken(cmd *cobra.Command, answer []byte) error {
	var answered struct {
		Activity struct {
			Result struct {
				VerifyOTPResult activity.VerifyOTPResult `json:"verifyOtpResult"`
			}
		}
	}
	if err := json.Unmarshal(answer, &answered); err != nil {
		return fmt.Errorf("the answer: %w", err)
	}
	if answered.Activity.Result.VerifyOTPResult.VerificationToken == "" {
		return errors.New("the answer has no verification token")
	}
	return printJSON(cmd.OutOrStdout(), answered.Activity.Result.VerifyOTPResult)
}

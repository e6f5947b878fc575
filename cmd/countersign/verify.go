package main

import (
	"crypto/ecdsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	api "github.com/countersign-dev/countersign/client"
	"github.com/countersign-dev/countersign/cmd/countersign/internal/config"
	"github.com/countersign-dev/countersign/internal/ur"
)

// verifyCommand is one call of verify.
type verifyCommand struct {
	body, proofKey string
	scan           bool   // the answer comes as QR codes
	logKey         string // of the log that the activity must be in
	signed         string // file for the signed transaction
	network        networkFlag
	config         string // names the users whose votes are checked
	atLeast        int    // votes of others than the submitter
}

func newVerifyCommand() *cobra.Command {
	var c verifyCommand
	command := &cobra.Command{
		Use:   "verify [FILE]",
		Short: "Check an answer offline, against a key that you trust",
		Long: paragraphs(`
Check the answer in FILE, as 'countersign submit' and 'countersign
sign --request' give it, in full or the short one, without a server. --scan reads it
from QR codes instead, one payload a line on standard input:

  body     it answers exactly the body in --body
  status   the activity is completed
  proof    the owner of --proof-key says so
  result   the result is the one that was proven
  summary  the transaction in the body is the one that was shown
  log      with --log-key: the activity is in the log that its owner signs
  votes    with --config: each vote is one on this activity by a user of the
           configuration, with a key that may vote; with --votes, so many at least,
           of others than the submitter

Without --proof-key only the first two are checked, which anyone could forge.
The request must have asked for the proof with "generateAppProofs":true. The
public key of proof.pem is proof-public.pem of 'countersign init --offline', or:
openssl pkey -in proof.pem -pubout. --signed keeps the signed transaction, once all
that could be checked holds.

Standard output says what was checked and what was not:

  {"checked":["body",…],"skipped":[{"name","skipped"}]}

Signatures of votes are shown once their stamps cannot be sent any more: by default
an hour after they were made. The exit status is 1 if anything does not hold.`),
		Example: paragraphs(`
  countersign verify --proof-key proof-public.pem --body body.json activity.json
  zbarcam --raw --nodisplay | countersign verify --proof-key proof-public.pem --body body.json --scan --signed signed.hex`),
		Args: cobra.MaximumNArgs(1),
		RunE: c.run,
	}
	command.Flags().StringVar(&c.body, "body", "", "`FILE` with the body of the request, byte for byte")
	command.Flags().StringVar(&c.proofKey, "proof-key", "", "`FILE` with the public key of app proofs, in PEM")
	registerLogKey(command, &c.logKey)
	command.Flags().BoolVar(&c.scan, "scan", false, "read the answer from QR codes: one payload a line on standard input")
	command.Flags().StringVar(&c.signed, "signed", "", "`FILE` that the signed transaction goes to")
	command.Flags().StringVar(&c.config, "config", "", "`FILE` with the users whose votes are checked: countersign.yaml, of which only public keys are read")
	command.Flags().IntVar(&c.atLeast, "votes", 0, "`NUMBER` of votes at least, of others than the submitter, with --config")
	c.network.register(command)
	return command
}

func (c *verifyCommand) run(cmd *cobra.Command, args []string) error {
	if c.scan == (len(args) > 0) {
		return usagef("name the file of the answer, or pass --scan")
	}
	trust, err := c.trust()
	if err != nil {
		return err
	}
	checks, signed, err := c.check(cmd, args, trust)
	if err != nil {
		return err
	}
	if c.signed != "" {
		if err := writeWhole(c.signed, []byte(signed+"\n")); err != nil {
			return fmt.Errorf("--signed %s: %w", c.signed, err)
		}
	}
	return printChecks(cmd, checks)
}

// trust reads what the caller trusts.
func (c *verifyCommand) trust() (trust countersign.Trust, err error) {
	if c.body == "" {
		return trust, usagef("--body is missing: the file with the body of the request")
	}
	if c.logKey != "" {
		if trust.LogKey, err = readLogKey(c.logKey); err != nil {
			return trust, err
		}
	}
	if trust.Limits, err = c.network.limits(); err != nil {
		return trust, err
	}
	if trust.Body, err = readBounded(c.body); err != nil {
		return trust, err
	}
	if err := c.trustVoters(&trust); err != nil {
		return trust, err
	}
	if c.proofKey == "" {
		return trust, nil
	}
	if trust.ProofKey, err = readPublicKey(c.proofKey); err != nil {
		return trust, fmt.Errorf("--proof-key %s: %w", c.proofKey, err)
	}
	return trust, nil
}

// trustVoters reads the users of the organization that the body names.
func (c *verifyCommand) trustVoters(trust *countersign.Trust) error {
	switch {
	case c.config == "" && c.atLeast != 0:
		return usagef("--votes needs --config: the file with the users whose votes count")
	case c.config == "":
		return nil
	case c.atLeast < 0:
		return usagef("--votes %d: a number is expected", c.atLeast)
	case c.scan:
		return usagef("--config does not go with --scan: a short answer has no votes")
	}
	configured, err := config.Read(c.config)
	if err != nil {
		return err
	}
	request, err := activity.Decode(trust.Body)
	if err != nil {
		return fmt.Errorf("--body: %w", err)
	}
	for i := range configured.Organizations {
		if configured.Organizations[i].ID == request.OrganizationID {
			if trust.Members, err = configured.Organizations[i].Members(); err != nil {
				return err
			}
			trust.Approvals = []countersign.Approval{{Rule: "--votes", Count: c.atLeast, NotSubmitter: true}}
			return nil
		}
	}
	return fmt.Errorf("--config %s: it has no organization %s, which the body names", c.config, request.OrganizationID)
}

// check checks the answer, and returns the signed transaction in it.
func (c *verifyCommand) check(cmd *cobra.Command, args []string, trust countersign.Trust) ([]countersign.AnswerCheck, string, error) {
	if c.scan {
		message, err := scanMessage(cmd, ur.TypeAnswer)
		if err != nil {
			return nil, "", err
		}
		short, err := shortAnswerFrom(message)
		if err != nil {
			return nil, "", err
		}
		checks, err := countersign.VerifyShortAnswer(countersign.ShortAnswer(short), trust)
		return checks, short.SignedTransaction, err
	}
	answer, err := readBounded(args[0])
	if err != nil {
		return nil, "", err
	}
	if short, err := readShortAnswer(answer); err == nil {
		checks, err := countersign.VerifyShortAnswer(countersign.ShortAnswer(short), trust)
		if c.config != "" {
			return nil, "", usagef("--config does not go with a short answer: it has no votes")
		}
		return checks, short.SignedTransaction, err
	}
	checks, err := countersign.VerifyAnswer(answer, trust)
	if err != nil {
		return nil, "", err
	}
	signed, err := signedIn(answer)
	if c.signed != "" && err != nil {
		return nil, "", err
	}
	return checks, signed, nil
}

// signedIn returns the signed transaction in a full answer that was verified.
func signedIn(answer []byte) (string, error) {
	var whole struct {
		Activity struct {
			Result struct {
				SignTransactionResult struct{ SignedTransaction string }
			}
		}
	}
	if err := json.Unmarshal(answer, &whole); err != nil {
		return "", err
	}
	signed := whole.Activity.Result.SignTransactionResult.SignedTransaction
	if signed == "" {
		return "", errors.New("the answer has no signed transaction")
	}
	return signed, nil
}

func printChecks(cmd *cobra.Command, checks []countersign.AnswerCheck) error {
	checked, skipped := []string{}, []countersign.AnswerCheck{}
	for _, check := range checks {
		if check.Skipped != "" {
			skipped = append(skipped, check)
			continue
		}
		checked = append(checked, check.Name)
	}
	return printJSON(cmd.OutOrStdout(), struct {
		Checked []string                  `json:"checked"`
		Skipped []countersign.AnswerCheck `json:"skipped"`
	}{checked, skipped})
}

// readBounded reads a file that is no longer than an answer may be.
func readBounded(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > api.MaxAnswer {
		return nil, fmt.Errorf("%s: longer than %d bytes", path, api.MaxAnswer)
	}
	return os.ReadFile(path)
}

// readPublicKey reads a key on P-256: one block PUBLIC KEY in PEM.
func readPublicKey(path string) (*ecdsa.PublicKey, error) {
	content, err := readBounded(path)
	if err != nil {
		return nil, err
	}
	block, rest := pem.Decode(content)
	if block == nil || block.Type != "PUBLIC KEY" || strings.TrimSpace(string(rest)) != "" {
		return nil, errors.New("one PEM block PUBLIC KEY is expected: openssl pkey -in proof.pem -pubout")
	}
	parsed, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return nil, err
	}
	key, ok := parsed.(*ecdsa.PublicKey)
	if !ok {
		return nil, errors.New("an ECDSA key on P-256 is expected")
	}
	return key, nil
}

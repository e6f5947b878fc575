package main

import (
	"crypto/ecdsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign"
	api "github.com/countersign-dev/countersign/client"
)

// verifyCommand is one call of verify.
type verifyCommand struct {
	body, proofKey string
	network        networkFlag
}

func newVerifyCommand() *cobra.Command {
	var c verifyCommand
	command := &cobra.Command{
		Use:   "verify FILE",
		Short: "Check an answer offline, against a key that you trust",
		Long: paragraphs(`
Check the answer in FILE, as 'countersign submit' and 'countersign
sign --request' give it, without a server:

  body     it answers exactly the body in --body
  status   the activity is completed
  proof    the owner of --proof-key says so
  result   the result is the one that was proven
  summary  the transaction in the body is the one that was shown

Without --proof-key only the first two are checked, which anyone could forge.
The request must have asked for the proof with "generateAppProofs":true. The
public key of proof.pem: openssl pkey -in proof.pem -pubout.

Standard output says what was checked and what was not:

  {"checked":["body",…],"skipped":[{"name","skipped"}]}

The exit status is 1 if anything does not hold.`),
		Example: "  countersign verify --proof-key proof-public.pem --body body.json activity.json",
		Args:    cobra.ExactArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return c.run(cmd, args[0]) },
	}
	command.Flags().StringVar(&c.body, "body", "", "`FILE` with the body of the request, byte for byte")
	command.Flags().StringVar(&c.proofKey, "proof-key", "", "`FILE` with the public key of app proofs, in PEM")
	c.network.register(command)
	return command
}

func (c *verifyCommand) run(cmd *cobra.Command, path string) (err error) {
	if c.body == "" {
		return usagef("--body is missing: the file with the body of the request")
	}
	var trust countersign.Trust
	if trust.Limits, err = c.network.limits(); err != nil {
		return err
	}
	if trust.Body, err = readBounded(c.body); err != nil {
		return err
	}
	if c.proofKey != "" {
		if trust.ProofKey, err = readPublicKey(c.proofKey); err != nil {
			return fmt.Errorf("--proof-key %s: %w", c.proofKey, err)
		}
	}
	answer, err := readBounded(path)
	if err != nil {
		return err
	}
	checks, err := countersign.VerifyAnswer(answer, trust)
	if err != nil {
		return err
	}
	return printChecks(cmd, checks)
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

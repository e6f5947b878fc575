package logs

import (
	"crypto/ecdsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains/all"
	api "github.com/countersign-dev/countersign/client"
	"github.com/countersign-dev/countersign/internal/cli/config"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/internal/cli/show"
	"github.com/countersign-dev/countersign/internal/trust"
	"github.com/countersign-dev/countersign/internal/ur"
	"github.com/countersign-dev/countersign/verify"
)

type verifyCommand struct {
	body, proofKey string
	scan           bool   // the answer comes as QR codes
	logKey         string // of the log that the activity must be in
	signed         string // file to write the signed transaction to
	index          int    // of the one to write, in a list of transactions; -1: all
	signature      string // file to write the signature over the message to
	network        show.NetworkFlag
	config         string // configuration with the users whose votes are checked
	shown          string // digest of what the voters were shown
	minVotes       int    // from users other than the submitter
}

// NewVerifyCommand returns the command verify.
func NewVerifyCommand() *cobra.Command {
	var c verifyCommand
	command := &cobra.Command{
		Use:   "verify [FILE]",
		Short: "Verify an answer offline, against a key that you trust",
		Long: console.Paragraphs(`
Verify the answer in FILE, in full or short form, as 'countersign submit' and 'countersign
sign --request' write it, without a server. --scan reads it from QR codes instead, one
payload per line of standard input. The checks are:

  body     the answer is to exactly the body in --body
  status   the activity is completed
  proof    the owner of --proof-key confirms it
  result   the result is the proven one
  summary  the transaction in the body is the one that was shown
  log      with --log-key: the activity is in the log that its owner signs
  votes    with --config: each vote is on this activity, by a user of the configuration
           with a key that may vote, and all that say what was shown say the same, with
           --shown exactly that; with --votes, at least that many are by users other than
           the submitter

Without --proof-key only the first two are checked, and anyone could forge the answer:
--signed, which writes the signed transaction to a file once every check has passed, needs
it. So does --signature, which writes the signature over a message, as 'countersign sign
--message' prints it.
The request must have asked for the proof with "generateAppProofs":true. The public key
of proof.pem is proof-public.pem of 'countersign init --offline', or the output of
'openssl pkey -in proof.pem -pubout'.

Standard output lists what was checked and what was skipped:

  {"checked":["body",…],"skipped":[{"name","skipped"}]}

A call without a stamp, such as one over JSON-RPC, is recorded by the engine as a user's,
with how it recognized the caller: LOCAL, or CERTIFICATE and the name in it. "submitter" is
then added, with what the answer proves about that user, and what it does not:

  {"checked":[…],"skipped":[…],"submitter":{"userId","authentication","proven","notProven"}}

A server shows the signatures of votes only after their stamps have expired, by default
an hour after they were made. The exit status is 1 if any check fails.`),
		Example: console.Paragraphs(`
  countersign verify --proof-key proof-public.pem --body body.json activity.json
  zbarcam --raw --nodisplay | countersign verify --proof-key proof-public.pem --body body.json --scan`),
		RunE: c.run,
	}
	c.register(command)
	return command
}

func (c *verifyCommand) register(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVar(&c.body, "body", "", "`FILE` with the exact body of the request")
	console.Require(command, "body", "the file with the body of the request")
	flags.StringVar(&c.proofKey, "proof-key", "", "`FILE` with the public key of app proofs, in PEM")
	deployment.RegisterLogKey(command, &c.logKey)
	flags.BoolVar(&c.scan, "scan", false, "read the answer from QR codes, one payload per line of standard input")
	flags.StringVar(&c.signed, "signed", "", "`FILE` to write the signed transaction to")
	flags.IntVar(&c.index, "index", -1, "`INDEX` in a list, from 0, of the transaction to write (default: all of them)")
	flags.StringVar(&c.signature, "signature", "", "`FILE` to write the signature over the message to, one line for each message")
	flags.StringVar(&c.config, "config", "",
		"configuration `FILE` with the users whose votes are checked; only public keys are read from it")
	flags.StringVar(&c.shown, "shown", "", "`DIGEST` of what the voters were shown, as their review has it, with --config")
	flags.IntVar(&c.minVotes, "votes", 0, "minimum `NUMBER` of votes by users other than the submitter, with --config")
	c.network.Register(command)
	console.Exclusive(command, "a short answer has no votes", "config", "scan")
	console.Needs(command, []string{"shown", "votes"}, []string{"config"})
	console.Needs(command, []string{"index"}, []string{"signed"})
}

func (c *verifyCommand) run(cmd *cobra.Command, args []string) error {
	if c.scan == (len(args) > 0) {
		return console.Usagef("name the file of the answer, or pass --scan")
	}
	trust, err := c.trust()
	if err != nil {
		return err
	}
	checks, result, err := c.check(cmd, args, trust)
	if err != nil {
		return err
	}
	if c.signed != "" || c.signature != "" {
		if err := c.write(trust.Body, checks, result); err != nil {
			return err
		}
	}
	submitter, err := verify.SubmitterOf(trust)
	if err != nil {
		return err
	}
	checked, skipped := []string{}, []verify.Check{}
	for _, check := range checks {
		if check.Skipped != "" {
			skipped = append(skipped, check)
			continue
		}
		checked = append(checked, check.Name)
	}
	return console.PrintJSON(cmd.OutOrStdout(), struct {
		Checked   []string          `json:"checked"`
		Skipped   []verify.Check    `json:"skipped"`
		Submitter *verify.Submitter `json:"submitter,omitempty"`
	}{checked, skipped, submitter})
}

// write writes what the answer has to the files of --signed and --signature.
func (c *verifyCommand) write(body []byte, checks []verify.Check, result activity.Result) error {
	for _, check := range checks { // what a skipped one let through is not proven
		if check.Skipped != "" {
			return fmt.Errorf("nothing is written: the check %s was skipped (%s)", check.Name, check.Skipped)
		}
	}
	if c.signed != "" {
		signed, err := c.signedIn(result)
		if err != nil {
			return err
		}
		if err := trust.Replace(c.signed, []byte(signed+"\n")); err != nil {
			return fmt.Errorf("--signed %s: %w", c.signed, err)
		}
	}
	if c.signature == "" {
		return nil
	}
	request, err := activity.Decode(body)
	if err != nil {
		return err
	}
	signatures, err := show.MessageSignatures(request.Intent, result)
	if err != nil {
		return fmt.Errorf("--signature %s: %w", c.signature, err)
	}
	var lines []byte
	for _, signature := range signatures {
		lines = append(append(lines, console.JSONLine(signature)...), '\n')
	}
	if err := trust.Replace(c.signature, lines); err != nil {
		return fmt.Errorf("--signature %s: %w", c.signature, err)
	}
	return nil
}

// signedIn returns the signed transaction in a result, or those of a list, one per line: with --index
// one of them.
func (c *verifyCommand) signedIn(result activity.Result) (string, error) {
	switch done := result.(type) {
	case activity.SignTransactionResult:
		if c.index < 0 {
			return done.SignedTransaction, nil
		}
		return "", console.Usagef("--index goes with a list of transactions, and this answer has none")
	case activity.SignTransactionsResult:
		switch {
		case c.index >= len(done.SignedTransactions):
			return "", console.Usagef("--index %d: the last in the list is %d", c.index, len(done.SignedTransactions)-1)
		case c.index >= 0:
			return done.SignedTransactions[c.index], nil
		}
		return strings.Join(done.SignedTransactions, "\n"), nil
	}
	return "", fmt.Errorf("--signed %s: the answer has no signed transaction: --signature writes the signature "+
		"over a message", c.signed)
}

// trust reads the keys, the body and the users that the caller trusts.
func (c *verifyCommand) trust() (trust verify.Trust, err error) {
	switch {
	case c.signed != "" && c.proofKey == "":
		return trust, console.Usagef("--signed needs --proof-key: without it nothing proves that the transaction is the engine's")
	case c.signature != "" && c.proofKey == "":
		return trust, console.Usagef("--signature needs --proof-key: without it nothing proves that the signature is the engine's")
	}
	if c.logKey != "" {
		if trust.LogKey, err = deployment.ReadLogKey(c.logKey); err != nil {
			return trust, err
		}
	}
	trust.Chains = all.Chains(c.network.Limits())
	if trust.Body, err = console.ReadFile(c.body, api.MaxAnswer); err != nil {
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
func (c *verifyCommand) trustVoters(trust *verify.Trust) error {
	switch {
	case c.shown != "" && !digestDigits.MatchString(c.shown):
		return console.Usagef("--shown %s: expected 64 lower-case hex digits", c.shown)
	case c.config == "":
		return nil
	case c.minVotes < 0:
		return console.Usagef("--votes %d: it must not be negative", c.minVotes)
	}
	configured, err := config.Read(c.config)
	if err != nil {
		return err
	}
	request, err := activity.Decode(trust.Body)
	if err != nil {
		return fmt.Errorf("--body: %w", err)
	}
	organization, err := configured.Organization(request.OrganizationID)
	if err != nil {
		return fmt.Errorf("--config %s: it has no organization %s, which the body names", c.config, request.OrganizationID)
	}
	trust.Shown = c.shown
	trust.Approvals = []access.Group{{Rule: "--votes", Count: c.minVotes, NotSubmitter: true}}
	trust.Members, err = organization.Members()
	return err
}

// check verifies the answer, and returns the checks and the result in it, which is nil if it
// is neither a signed transaction nor signatures.
func (c *verifyCommand) check(cmd *cobra.Command, args []string, trust verify.Trust) ([]verify.Check, activity.Result, error) {
	if c.scan {
		message, err := console.ScanMessage(cmd, ur.TypeAnswer)
		if err != nil {
			return nil, nil, err
		}
		short, err := show.ShortAnswerFrom(message)
		if err != nil {
			return nil, nil, err
		}
		return checkShort(short, trust)
	}
	answer, err := console.ReadFile(args[0], api.MaxAnswer)
	if err != nil {
		return nil, nil, err
	}
	if short, err := show.ReadShortAnswer(answer); err == nil {
		if c.config != "" {
			return nil, nil, console.Usagef("--config does not go with a short answer: it has no votes")
		}
		return checkShort(short, trust)
	}
	checks, err := verify.Answer(answer, trust)
	if err != nil {
		return nil, nil, err
	}
	result, err := resultIn(answer)
	return checks, result, err
}

func checkShort(short verify.ShortAnswer, trust verify.Trust) ([]verify.Check, activity.Result, error) {
	checks, err := verify.Short(short, trust)
	if err != nil {
		return nil, nil, err
	}
	request, err := activity.Decode(trust.Body)
	if err != nil {
		return nil, nil, err
	}
	result, err := short.Result(request.Intent)
	return checks, result, err
}

var digestDigits = regexp.MustCompile(`^[0-9a-f]{64}$`)

// resultIn returns the signed transaction or the signatures in a full answer that was
// verified, or nil.
func resultIn(answer []byte) (activity.Result, error) {
	done, err := api.ParseActivity(answer)
	switch {
	case err != nil:
		return nil, err
	case done.Result.SignTransaction != nil && done.Result.SignTransaction.SignedTransaction != "":
		return *done.Result.SignTransaction, nil
	case done.Result.SignTransactions != nil:
		return *done.Result.SignTransactions, nil
	case done.Result.SignRawPayload != nil:
		return *done.Result.SignRawPayload, nil
	case done.Result.SignRawPayloads != nil:
		return *done.Result.SignRawPayloads, nil
	}
	return nil, nil
}

func readPublicKey(path string) (*ecdsa.PublicKey, error) {
	content, err := console.ReadFile(path, api.MaxAnswer)
	if err != nil {
		return nil, err
	}
	block, rest := pem.Decode(content)
	if block == nil || block.Type != "PUBLIC KEY" || strings.TrimSpace(string(rest)) != "" {
		return nil, errors.New("expected one PEM block PUBLIC KEY, such as the output of 'openssl pkey -in proof.pem -pubout'")
	}
	parsed, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return nil, err
	}
	key, ok := parsed.(*ecdsa.PublicKey)
	if !ok {
		return nil, errors.New("expected an ECDSA key on P-256")
	}
	return key, nil
}

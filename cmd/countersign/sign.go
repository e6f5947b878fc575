package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains/bitcoin"
	"github.com/countersign-dev/countersign/internal/ur"
	"github.com/countersign-dev/countersign/keystore"
)

// signCommand is one call of sign.
type signCommand struct {
	at       keystoreFlags
	kind     string
	message  string // kind of a message, in place of a transaction
	bitcoin  bitcoinMessageFlags
	signWith string
	allow    []string
	as       string // user that a policy judges
	yes      bool
	jsonl    bool
	workers  int
	network  networkFlag
	finalize bool
	encoding bitcoin.Encoding // of the PSBT that came, and of the one that is printed
	request  requestFlags
	known    *knowledge
	qr       qrFlags
	scan     bool
}

func newSignCommand() *cobra.Command {
	var c signCommand
	command := &cobra.Command{
		Use:   "sign",
		Short: "Sign transactions",
		Long: paragraphs(`
Sign one transaction: its hex comes from standard input, the signed hex goes to
standard output. Without --type it is taken for the one type whose reader takes it,
which is said. A PSBT may be in hex, base64 or binary, and goes out in the
encoding in which it came. Its summary is shown on standard error, and it asks for
confirmation on the terminal; --yes skips the question. Without a terminal, as in
a job, it refuses unless --yes is passed.

--sign-with is an address of the key, in a form of the transaction's chain, or
the key's id.

--finalize, with a PSBT that has all its signatures then, prints the transaction
for the network and not the PSBT; of a BIP-322 message, its signature.

A transaction that is well-formed but dangerous is refused with the names of its
hazards. --allow NAME allows one of them, --allow all allows all.

--config --as USER: the store keeps the record, with that user and the scheme LOCAL,
for there is no stamp. Where the organization has a policy, --as is required: the
policy judges the user, and its limits are charged. --keystore without --config is
outside any policy, and nothing is recorded.

--message KIND: a message in place of a transaction; the answer is one line of JSON,
{"r","s","v","signature"}. Standard input is, for eip712, JSON {types, primaryType,
domain, message}; for delegation (EIP-7702), JSON {address, chainId, nonce}; for
personal and tron, the message itself, every byte of it, a last newline too; for
solana, hex of an off-chain message or of the message of a transaction; for bip322
(Bitcoin), the message itself, for an address: --sign-with, or --address if that is a
wallet or key. --funds names a PSBT whose inputs are proven too. The answer is
{"signature":"smp…"}, or ful… or pof….

--jsonl: many transactions, one a line, each answered with one line in the same
order. Nothing is shown or asked.

  {"signWith":"…","unsignedTransaction":"…","type":"TRANSACTION_TYPE_…"}
  → {"signedTransaction":"…"}  or  {"error":{"code","reason","message"}}
  {"signWith":"…","payload":"…","encoding":"PAYLOAD_ENCODING_…","hashFunction":"HASH_FUNCTION_…"}
  → {"r":"…","s":"…","v":"…"}

All lines are done; the exit status is 1 if any failed. A line of more than
8 MiB, and a blank one, is answered with an error too, so that input and output
keep step. Answers come at once when nothing more is waiting to be signed.

--request: a stamped request as 'countersign stamp' makes it, carried out through
the same checks as over HTTP; --out gets what would have been answered. The store
of the configuration keeps it: the same request is never signed twice, it is
answered the same. --max-request-age and --any-request-time let it be on its way
for longer. --vote: with the votes of others, where a policy wants approvals, as
'countersign approve --request' writes them. A call that is short of votes keeps those
it has; the same call with the rest signs. --out-signed gets a short answer:
fingerprint, signed transaction, proof.

--scan: the request comes as QR codes, each payload a line on standard input, as
zbarcam and 'countersign scan' print them; --qr draws the answer on the terminal. A
stamped request needs --config, and so does a vote on one that waits (from
'countersign approve --scan --qr'), one a call. Requests of other wallets (psbt, crypto-psbt,
eth-sign-request, sol-sign-request, tron-sign-request; transactions and messages)
have no stamp: only the person at the terminal says yes to them, and --yes is
refused. With --config they are recorded as well, for the user of --as or "terminal".`),
		Example: paragraphs(`
  countersign sign --keystore file:keys --type TRANSACTION_TYPE_ETHEREUM \
      --sign-with 0x97cC56300C36F60C7Fb7C50BaBc6c5cDF59D5c56 < transaction.hex > signed.hex
  countersign sign --keystore file:keys --message eip712 --sign-with KEY < permit.json
  countersign sign --keystore file:keys --passphrase-file pass --jsonl < intents.jsonl > signed.jsonl
  countersign sign --config countersign.yaml --request request.json --out activity.json
  zbarcam --raw --nodisplay | countersign sign --config countersign.yaml --scan --qr`),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.run(cmd) },
	}
	c.at.register(command)
	c.network.register(command)
	flags := command.Flags()
	flags.StringVar(&c.kind, "type", "", "`TYPE` of the transaction: "+typeNames())
	flags.StringVar(&c.message, "message", "", "sign a message of `KIND`: "+messageKinds())
	c.bitcoin.register(flags)
	flags.StringVar(&c.signWith, "sign-with", "", "`ADDRESS` or id of the key")
	flags.StringArrayVar(&c.allow, "allow", nil, "`HAZARD` that may be signed, by name, or all; can be repeated")
	flags.StringVar(&c.as, "as", "", "`USER` of --config who signs, by name or id: recorded, and judged by the policy")
	flags.BoolVar(&c.yes, "yes", false, "sign without asking for confirmation")
	flags.BoolVar(&c.jsonl, "jsonl", false, "sign many transactions, one JSON object a line")
	flags.BoolVar(&c.finalize, "finalize", false, "Bitcoin: print the network transaction and not the PSBT")
	c.request.register(flags)
	c.qr.register(flags)
	flags.BoolVar(&c.scan, "scan", false, "read the request from QR codes: one payload a line on standard input")
	flags.IntVar(&c.workers, "workers", runtime.NumCPU(), "`NUMBER` of transactions signed at once with --jsonl")
	flags.Lookup("workers").DefValue = "one for each processor" // help is the same everywhere
	return command
}

func (c *signCommand) run(cmd *cobra.Command) error {
	if err := c.qr.check(); err != nil {
		return err
	}
	if c.scan {
		return c.signScanned(cmd)
	}
	if c.request.in != "" {
		return c.signRequest(cmd)
	}
	limits, err := c.check(cmd)
	switch {
	case err != nil:
		return err
	case c.jsonl:
		return c.signLines(cmd)
	case c.message == bip322:
		return c.signBitcoinMessage(cmd)
	case c.message != "":
		return c.signMessage(cmd)
	}
	read, err := readTransactionAs(cmd, c.kind, "", limits)
	if err != nil {
		return err
	}
	c.encoding = read.encoding
	return c.signOne(cmd, activity.SignTransactionIntent{Type: read.kind, SignWith: c.signWith, UnsignedTransaction: read.text})
}

// check refuses flags that do not go together, before anything is read.
func (c *signCommand) check(cmd *cobra.Command) (countersign.Limits, error) {
	limits, err := c.network.limits()
	err = cmp.Or(c.checkRequestFlags(cmd), c.at.check(), checkHazardNames(c.allow), err)
	one := !c.jsonl && c.message == ""
	switch {
	case err != nil:
		return limits, err
	case c.finalize && (c.jsonl || !isBitcoin(c.kind)):
		return limits, usagef("--finalize goes with --type %s", activity.TransactionTypeBitcoin)
	case c.message != "" && (c.kind != "" || c.jsonl):
		return limits, usagef("--message goes with neither --type nor --jsonl: a line of --jsonl says itself what it is")
	case !c.jsonl && cmd.Flags().Changed("workers"):
		return limits, usagef("--workers goes with --jsonl: one transaction has one signer")
	}
	if err := c.bitcoin.check(c.message); err != nil || !one {
		return limits, err
	}
	if c.kind != "" {
		if _, err := parseType(c.kind); err != nil {
			return limits, err
		}
	}
	if c.signWith == "" {
		return limits, usagef("--sign-with is missing: an address of the key, or its id")
	}
	return limits, nil
}

// checkRequestFlags refuses what goes with a stamped request, and codes that would not
// say what they are.
func (c *signCommand) checkRequestFlags(cmd *cobra.Command) error {
	for _, name := range []string{"out", "out-signed", "vote", "max-request-age", "any-request-time"} {
		if cmd.Flags().Changed(name) {
			return usagef("--%s goes with --request", name)
		}
	}
	if c.qr.wanted() && (c.jsonl || !isBitcoin(c.kind) || c.finalize) {
		return usagef("--qr goes with --request, with --scan, and with a PSBT: for the rest there is no type of code that says what it is")
	}
	return nil
}

// engine makes the engine over the keystore. The caller closes it.
func (c *signCommand) engine(cmd *cobra.Command) (*countersign.Engine, error) {
	if c.as != "" && c.at.configFile == "" {
		return nil, usagef("--as goes with --config, which knows the users")
	}
	limits, err := c.network.limits()
	if err != nil {
		return nil, err
	}
	keys, err := c.at.open(cmd)
	if err != nil {
		return nil, err
	}
	if c.known, err = readKnowledge(c.at.configured); err != nil {
		return nil, errors.Join(err, keys.Close())
	}
	engine, err := c.engineOver(cmd.Context(), keys, limits)
	if err != nil {
		return nil, errors.Join(err, keys.Close())
	}
	return engine, nil
}

// engineOver makes the engine. With --config, what the organization allows is
// allowed, and its policy judges.
func (c *signCommand) engineOver(ctx context.Context, keys keystore.Keystore, limits countersign.Limits) (*countersign.Engine, error) {
	made := countersign.Config{Keystore: keys, AllowHazards: c.allow, Chains: countersign.Chains(limits), Descriptors: c.known.reader()}
	if c.at.configured == nil {
		return countersign.New(made)
	}
	var err error
	if made.Directory, err = countersign.NewDirectory(c.at.configured.Organizations); err != nil {
		return nil, fmt.Errorf("%s: %w", c.at.configFile, err)
	}
	if err := c.recorded(ctx, &made, keys); err != nil {
		return nil, err
	}
	engine, err := countersign.New(made)
	if err != nil && made.Store != nil {
		err = errors.Join(err, made.Store.Close())
	}
	return engine, err
}

// signOne shows a transaction, asks, and signs what was shown.
func (c *signCommand) signOne(cmd *cobra.Command, intent activity.SignTransactionIntent) (err error) {
	engine, err := c.engine(cmd)
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := engine.Close(); err == nil {
			err = closeErr
		}
	}()
	result, err := c.signShown(cmd, engine, intent)
	if err != nil {
		return err
	}
	if c.qr.wanted() {
		return c.showPSBT(cmd, result.SignedTransaction, ur.TypePSBT)
	}
	return c.print(cmd.OutOrStdout(), result.SignedTransaction)
}

// explainRefusal adds to a refusal how this command is told otherwise.
func explainRefusal(err error) error {
	if refusal, ok := errors.AsType[*activity.Error](err); ok && refusal.Reason == activity.ReasonHazardNotAllowed {
		return fmt.Errorf("%w, with --allow NAME", err)
	}
	return err
}

func checkHazardNames(names []string) error {
	known := countersign.HazardNames()
	for _, name := range names {
		if name != countersign.AllHazards && !slices.Contains(known, name) {
			return usagef("--allow: unknown hazard %q: use %s, or %s", name, strings.Join(known, ", "), countersign.AllHazards)
		}
	}
	return nil
}

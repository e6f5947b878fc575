// Package sign is the commands that show and sign: sign, inspect and scan.
package sign

import (
	"cmp"
	"errors"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/internal/cli/show"
	"github.com/countersign-dev/countersign/internal/ur"
	"github.com/countersign-dev/countersign/keystore"
)

// signCommand holds the flags and the state of one call of sign.
type signCommand struct {
	at       deployment.KeystoreFlags
	kind     string
	message  show.MessageFlags // to sign instead of a transaction
	signWith string
	allow    []string
	as       string // the user a policy judges
	yes      bool
	jsonl    bool
	workers  int
	network  show.NetworkFlag
	finalize bool
	read     show.Written // the transaction, as it came
	request  requestFlags
	known    *deployment.Knowledge
	keystore keystore.Keystore // once it is open
	qr       console.QRFlags
	scan     bool
}

const signHelp = `
Sign one transaction: it comes from standard input in hex, and the signed one goes to
standard output. Its summary is shown on standard error, and the command asks for
confirmation on the terminal; --yes skips the question. Without a terminal, as in a
job, it refuses unless you pass --yes.

Without --type, the chain is recognized by the bytes, and reported. A PSBT may also be
in base64 or binary, a Solana transaction in base64 or base58; it is printed in the
encoding in which it came. The message of a Solana transaction, as 'solana --sign-only
--dump-transaction-message' prints it, is answered with PUBKEY=SIGNATURE, as 'solana
--signer' takes it.

--sign-with is the key's id, or an address of the key in a form of the transaction's
chain; the id or name of a wallet; or the name of a registered wallet, whose inputs are
signed.

--finalize prints the network transaction instead of the PSBT, or the signature of a
BIP-322 message. The PSBT must then have all its signatures.

A transaction that is well-formed but dangerous is refused with the names of its
hazards. --allow NAME allows one of them, --allow all allows all.

--config with --as USER records the signature in the store, under that user and with
the scheme LOCAL, because there is no stamp. If the organization has a policy, --as
is required: the policy judges that user, and its limits are charged. With --keystore
instead of --config no policy applies and nothing is recorded.

--message KIND signs a message instead of a transaction. Standard input is

  eip712      JSON {types, primaryType, domain, message}
  delegation  (EIP-7702) JSON {address, chainId, nonce}
  personal    the message itself, every byte of it, including a final newline
  tron        the same
  solana      hex (or --encoding base64 or base58) of an off-chain message, or of the
              message of a transaction
  bip322      (Bitcoin) the message itself
  bip137      (Bitcoin, older) the same, for verifiers that do not know BIP-322

and the answer is one line of JSON, {"r","s","v","signature"}. A BIP-322 message is
signed for an address: --sign-with, or --address if --sign-with is a wallet or a key
id. --funds names a PSBT whose inputs are proven as well. Its answer is
{"signature":"smp…","older":"…"}, or ful… or pof…; older is for verifiers of the
BIP's earlier text. A BIP-137 message is for a P2PKH, P2WPKH or
P2SH-P2WPKH address, given as --sign-with or --address; its signature is base64.

--jsonl signs many transactions or messages, one per line. Each line is answered with
one line, in the same order, and nothing is shown or asked. A transaction comes in any of
the forms above, other than binary, and is answered in the same.

  {"signWith":"…","unsignedTransaction":"…","type":"TRANSACTION_TYPE_…"}
  → {"signedTransaction":"…"}  or  {"error":{"code","reason","message"}}
  {"signWith":"…","payload":"…","encoding":"PAYLOAD_ENCODING_…","hashFunction":"…"}
  → {"r":"…","s":"…","v":"…"}

All lines are processed; the exit status is 1 if any failed. A blank line, and one
longer than 8 MiB, is answered with an error too, so that input and output stay in
step. An answer is written at once when no other line is being processed.

--request carries out a stamped request, as 'countersign stamp' writes it, with the
same checks as over HTTP. --out receives what the server would have answered,
--out-signed a short answer: fingerprint, signed transaction, proof. The request is
recorded in the configured store, so the same request is never signed twice: it gets
the same answer. --max-request-age and --any-request-time accept requests that were
longer on their way. --vote adds the votes of approvers, where a policy requires
them, as 'countersign approve --request' writes them. If votes are still missing, the
given ones are kept, and the same call with the rest signs.

--scan reads the request from QR codes, one payload per line of standard input, as
zbarcam and 'countersign scan' print them; --qr draws the answer on the terminal. A
stamped request needs --config, and so does a vote on a waiting request (from
'countersign approve --scan --qr'), one per call. Requests of other wallets (psbt,
crypto-psbt, eth-sign-request, sol-sign-request, tron-sign-request; transactions and
messages) have no stamp: only the person at the terminal can confirm them, and --yes
is refused. With --config they are recorded too, for the user of --as or "terminal".`

// NewCommand returns the command sign.
func NewCommand() *cobra.Command {
	var c signCommand
	command := &cobra.Command{
		Use:   "sign",
		Short: "Sign transactions",
		Long:  console.Paragraphs(signHelp),
		Example: console.Paragraphs(`
  countersign sign --keystore file:keys --type TRANSACTION_TYPE_ETHEREUM \
      --sign-with 0x97cC56300C36F60C7Fb7C50BaBc6c5cDF59D5c56 < transaction.hex > signed.hex
  countersign sign --keystore file:keys --message eip712 --sign-with KEY < permit.json
  countersign sign --keystore file:keys --passphrase-file pass --jsonl < intents.jsonl > signed
  countersign sign --config countersign.yaml --request request.json --out activity.json
  zbarcam --raw --nodisplay | countersign sign --config countersign.yaml --scan --qr`),
		Args: console.StdinArgs("transaction"),
		RunE: func(cmd *cobra.Command, _ []string) error { return c.run(cmd) },
	}
	c.at.Register(command)
	c.network.Register(command)
	flags := command.Flags()
	flags.StringVar(&c.kind, "type", "", "`TYPE` of the transaction: "+show.TypeNames())
	c.message.Register(command, "sign a message of `KIND`")
	flags.StringVar(&c.signWith, "sign-with", "", "`ADDRESS` or id of the key")
	flags.StringArrayVar(&c.allow, "allow", nil, "`HAZARD` to allow, by name, or all; can be repeated")
	flags.StringVar(&c.as, "as", "", "`USER` of --config who signs, by name or id: recorded, and judged by the policy")
	flags.BoolVar(&c.yes, "yes", false, "sign without asking for confirmation")
	flags.BoolVar(&c.jsonl, "jsonl", false, "sign many transactions, one JSON object per line")
	flags.BoolVar(&c.finalize, "finalize", false, "Bitcoin: print the network transaction instead of the PSBT")
	c.request.register(flags)
	c.qr.Register(command)
	flags.BoolVar(&c.scan, "scan", false, "read the request from QR codes, one payload per line of standard input")
	flags.IntVar(&c.workers, "workers", runtime.NumCPU(), "`NUMBER` of transactions to sign in parallel with --jsonl")
	for _, name := range []string{"message", "type", "sign-with"} {
		console.Exclusive(command, "each line has its own", name, "jsonl")
	}
	console.Needs(command, []string{"workers"}, []string{"jsonl"})
	console.Needs(command, []string{"out", "out-signed", "vote", "max-request-age", "any-request-time"},
		[]string{"request", "scan"})
	for _, name := range []string{"request", "jsonl", "workers", "finalize", "type"} {
		console.Exclusive(command, "", name, "scan")
	}
	flags.Lookup("workers").DefValue = "one per processor" // the same help on every machine
	return command
}

func (c *signCommand) run(cmd *cobra.Command) (err error) {
	if c.scan {
		return c.signScanned(cmd)
	}
	if c.request.in != "" {
		return c.signStamped(cmd, func() (countersign.SignedBody, error) {
			return show.ReadRequestFile(cmd, c.request.in)
		})
	}
	switch err := c.check(); {
	case err != nil:
		return err
	case c.jsonl:
		return c.signLines(cmd)
	case c.message.Kind != "":
		return c.signMessage(cmd)
	}
	read, err := show.ReadTransactionAs(cmd, c.kind, "", c.network.Limits())
	if err != nil {
		return err
	}
	c.read = read.Written
	engine, err := c.engine(cmd)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, engine.Close()) }()
	signed, err := c.signShown(cmd, engine,
		activity.SignTransactionIntent{Type: read.Kind, SignWith: c.signWith, UnsignedTransaction: read.Text})
	if err != nil {
		return err
	}
	if c.qr.Wanted() {
		return c.showPSBT(cmd, signed, ur.TypePSBT)
	}
	return c.print(cmd.OutOrStdout(), signed)
}

// check refuses flags that do not go together. It runs before anything is read.
func (c *signCommand) check() error {
	if c.qr.Wanted() && (c.jsonl || !show.IsBitcoin(c.kind) || c.finalize) {
		return console.Usagef("--qr goes with --request, with --scan, and with a PSBT: no type of QR code exists for other answers")
	}
	err := cmp.Or(c.at.Check(), checkHazardNames(c.allow))
	switch {
	case err != nil:
		return err
	case c.finalize && (c.jsonl || !show.IsBitcoin(c.kind)):
		return console.Usagef("--finalize goes with --type %s", activity.TransactionTypeBitcoin)
	case c.jsonl || c.message.Kind != "":
		return nil
	}
	if c.kind != "" {
		if _, err := show.ParseType(c.kind); err != nil {
			return err
		}
	}
	if c.signWith == "" {
		return console.Usagef("--sign-with is missing: an address of the key, or its id")
	}
	return nil
}

func checkHazardNames(names []string) error {
	known := all.HazardNames()
	for _, name := range names {
		if name != countersign.AllHazards && !slices.Contains(known, name) {
			return console.Usagef("--allow: unknown hazard %q: use %s, or %s", name, strings.Join(known, ", "), countersign.AllHazards)
		}
	}
	return nil
}

func (c *signCommand) confirm(cmd *cobra.Command, shown show.View) error {
	return show.ConfirmShown(cmd, c.yes, shown, "Sign this "+shown.What()+"?", "not signed")
}

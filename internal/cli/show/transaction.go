package show

import (
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/terminal"
	"github.com/countersign-dev/countersign/internal/plaintext"
	"github.com/countersign-dev/countersign/internal/wiretext"
)

// ReadTransaction reads one transaction from a file, or from standard input if none is
// named, as clean text: see wiretext.Clean.
func ReadTransaction(cmd *cobra.Command, file ...string) (string, error) {
	in, from := cmd.InOrStdin(), "standard input"
	if len(file) > 0 && file[0] != "" && file[0] != console.StandardInput {
		opened, err := os.Open(file[0])
		if err != nil {
			return "", err
		}
		defer func() { _ = opened.Close() }()
		in, from = opened, file[0]
	} else if terminal.Is(in) {
		fmt.Fprintln(cmd.ErrOrStderr(), "Paste the transaction, then press Enter and Ctrl-D:")
	}
	content, err := console.ReadAll(cmd.Context(), in, MaxPSBTText)
	var text []byte
	if err == nil {
		text, err = wiretext.Clean(content)
	}
	if err != nil {
		return "", fmt.Errorf("read the transaction from %s: %w", from, err)
	}
	if len(text) == 0 {
		return "", fmt.Errorf("%s is empty: expected a transaction", from)
	}
	return string(text), nil
}

// Written is a transaction as the engine takes it, and how it was written.
type Written struct {
	Text    string // hex; or what came, for the engine to refuse
	Form    wiretext.Form
	Message []byte // what is signed, if only that came; Text has empty signatures
}

// DecodeAs reads a transaction of a type: hex, or a form in which its chain exchanges them. The
// error is about the form: whether the bytes are a transaction is for the engine to say.
func DecodeAs(kind activity.TransactionType, content string) (Written, error) {
	chain, err := all.Of(kind, all.Limits{})
	if err != nil {
		return Written{Text: content}, err
	}
	forms := chain.Words().Forms
	var wrong error
	for _, reading := range wiretext.Read([]byte(content)) {
		if reading.Form != wiretext.Hex && !slices.Contains(forms.Encodings, reading.Form.String()) {
			continue
		}
		tx, err := asTransaction(forms, reading)
		if err == nil || reading.Form == wiretext.Hex {
			return tx, nil
		}
		wrong = fmt.Errorf("read as %v: %w", reading.Form, err)
	}
	if forms.Expected == "" {
		return Written{Text: content}, nil
	}
	if wrong == nil {
		_, wrong = chains.DecodeHex(content)
	}
	return Written{Text: content}, fmt.Errorf("%w; expected %s", wrong, forms.Expected)
}

// asTransaction returns a reading as the engine takes it. The error says why its bytes are
// no transaction of the chain.
func asTransaction(forms chains.Forms, reading wiretext.Reading) (Written, error) {
	tx := Written{Text: hex.EncodeToString(reading.Raw), Form: reading.Form}
	if forms.Complete == nil {
		return tx, nil
	}
	whole, err := forms.Complete(reading.Raw)
	if err == nil && len(whole) != len(reading.Raw) {
		tx.Message, tx.Text = reading.Raw, hex.EncodeToString(whole)
	}
	return tx, err
}

// transactionInput is a transaction as it was read, and the type it was taken for.
type transactionInput struct {
	Written
	Kind    activity.TransactionType
	Guessed bool // the type was not given, but found by trying all readers
}

// ReadTransactionAs reads a transaction of the type that --type names, or if none is named, of the
// only type whose reader accepts it. If two readers accept it, neither is chosen.
func ReadTransactionAs(cmd *cobra.Command, named, file string, limits all.Limits) (transactionInput, error) {
	var read transactionInput
	var err error
	if named != "" {
		if read.Kind, err = ParseType(named); err != nil {
			return read, err
		}
	}
	content, err := ReadTransaction(cmd, file)
	if err != nil {
		return read, err
	}
	if named != "" {
		read.Written, err = DecodeAs(read.Kind, content)
		return read, refuseOther(read.Kind, content, err, limits)
	}
	var taken []transactionInput
	var refusals []string
	for _, kind := range all.TransactionTypes() {
		tx, err := readAs(kind, content, limits)
		if err == nil {
			taken = append(taken, transactionInput{tx, kind, true})
			continue
		}
		refusals = append(refusals, fmt.Sprintf("  %s: %v", shortType(kind), err))
	}
	switch len(taken) {
	case 1:
		fmt.Fprintf(cmd.ErrOrStderr(), "Taken for %s: no other chain reads it. Pass --type to name it.\n", taken[0].Kind)
		return taken[0], nil
	case 0:
		if firstLineAlone(content, limits) {
			return read, errors.New(oneIsRead)
		}
		return read, errors.New("no chain can read this as a transaction; name the intended one with --type:\n" +
			strings.Join(refusals, "\n"))
	}
	var kinds []string
	for _, form := range taken {
		kinds = append(kinds, shortType(form.Kind))
	}
	return read, console.Usagef("this can be read as a transaction of %s: pass --type", strings.Join(kinds, " and of "))
}

func readAs(kind activity.TransactionType, content string, limits all.Limits) (Written, error) {
	tx, err := DecodeAs(kind, content)
	if err == nil {
		_, err = InspectEither(kind, tx.Text, limits)
	}
	return tx, err
}

// refuseOther refuses a transaction that another chain than that of --type can read, and
// several on lines of their own: the error of the reader would not say so. wrong is the
// error of DecodeAs, or nil.
func refuseOther(named activity.TransactionType, content string, wrong error, limits all.Limits) error {
	_, err := readAs(named, content, limits)
	if err == nil {
		return nil
	}
	for _, kind := range all.TransactionTypes() {
		if kind == named {
			continue
		}
		if _, other := readAs(kind, content, limits); other == nil {
			return fmt.Errorf("%w; it is a valid %s transaction: pass --type %[2]s", err, shortType(kind))
		}
	}
	if firstLineAlone(content, limits) {
		return fmt.Errorf("%w; %s", err, oneIsRead)
	}
	return wrong // what the engine can read, it refuses itself
}

const oneIsRead = "the first line alone is a transaction: one is read, and several with 'sign --jsonl'"

// firstLineAlone reports whether the first of several lines is a transaction.
func firstLineAlone(content string, limits all.Limits) bool {
	first, _, more := strings.Cut(content, "\n")
	return more && slices.ContainsFunc(all.TransactionTypes(), func(kind activity.TransactionType) bool {
		_, err := readAs(kind, first, limits)
		return err == nil
	})
}

// shortType returns the short name of a type, which --type takes too.
func shortType(kind activity.TransactionType) string {
	return strings.ToLower(strings.TrimPrefix(string(kind), typePrefix))
}

// Inspected is a transaction that was read, and its signers so far.
type Inspected struct {
	all.Inspection
	Signed  bool
	Signers []string // with verified signatures
}

// InspectEither reads an unsigned transaction, or a signed one, whose signatures it
// verifies and removes.
func InspectEither(kind activity.TransactionType, text string, limits all.Limits) (Inspected, error) {
	read, err := all.Inspect(kind, text, limits)
	raw, decodeErr := hex.DecodeString(strings.TrimPrefix(text, "0x"))
	if decodeErr != nil {
		return Inspected{Inspection: read}, err
	}
	unsigned, signers, isSigned, unsignErr := withoutSignature(kind, raw, limits)
	switch {
	case err == nil: // the reader also accepts partly signed transactions
		signers = append(signers, SignersIn(read.Summary.Fields)...)
		return Inspected{read, len(signers) > 0, signers}, nil
	case !isSigned:
		return Inspected{}, err
	case unsignErr != nil:
		return Inspected{}, unsignErr
	}
	read, err = all.Inspect(kind, hex.EncodeToString(unsigned), limits)
	return Inspected{read, true, signers}, err
}

// SignedBy returns a sentence that names the signers.
func (i *Inspected) SignedBy() string {
	if len(i.Signers) == 0 {
		return "This transaction is signed; this kind of signature does not name the signer."
	}
	return "This transaction is signed by " + strings.Join(i.Signers, ", ") + "."
}

// typePrefix begins the name of every transaction type. --type may omit it.
const typePrefix = "TRANSACTION_TYPE_"

// ParseType parses a transaction type, in full or short, such as "ethereum".
func ParseType(name string) (activity.TransactionType, error) {
	if name == "" {
		return "", console.Usagef("--type is missing: use %s", TypeNames())
	}
	kind := activity.TransactionType(name)
	if !strings.HasPrefix(name, typePrefix) {
		kind = activity.TransactionType(typePrefix + strings.ToUpper(name))
	}
	if !slices.Contains(all.TransactionTypes(), kind) {
		message := fmt.Sprintf("--type: unknown transaction type %q", name)
		return "", console.Usagef("%s", plaintext.Meant(message, name, ShortTypes(), "use "+TypeNames()))
	}
	return kind, nil
}

// ShortTypes returns the short names of the types.
func ShortTypes() (names []string) {
	for _, kind := range all.TransactionTypes() {
		names = append(names, strings.ToLower(strings.TrimPrefix(string(kind), typePrefix)))
	}
	return names
}

// IsBitcoin reports whether --type names Bitcoin.
func IsBitcoin(name string) bool {
	kind, err := ParseType(name)
	return err == nil && kind == activity.TransactionTypeBitcoin
}

// TypeNames returns the names that --type takes.
func TypeNames() string {
	return strings.Join(ShortTypes(), ", ") + ", or the names of the API, such as " +
		string(activity.TransactionTypeEthereum)
}

// withoutSignature removes the signature from a transaction of a chain whose unsigned
// transactions have none: see [chains.Forms]. isSigned is false of other chains.
func withoutSignature(kind activity.TransactionType, raw []byte, limits all.Limits) (unsigned []byte,
	signers []string, isSigned bool, err error) {
	chain, err := all.Of(kind, limits)
	if err != nil {
		return nil, nil, false, err
	}
	if unsign := chain.Words().Forms.Unsign; unsign != nil {
		return unsign(raw)
	}
	return nil, nil, false, nil
}

// SignersIn returns the addresses that a summary shows as having signed. On Tron they are
// recovered from the signatures; on Solana the signatures are verified.
func SignersIn(fields []chains.Field) (signers []string) {
	for i := range fields {
		field := &fields[i]
		switch {
		case field.Label == "signed by":
			signers = append(signers, field.Value)
		case strings.HasPrefix(field.Label, "signer ") && strings.HasPrefix(field.Note, signedNote):
			signers = append(signers, field.Value)
		case field.Label == "signers":
			signers = append(signers, SignersIn(field.Fields)...)
		}
	}
	return signers
}

// signedNote begins the note of a signer in Solana's summary whose signature is present.
const signedNote = "signed"

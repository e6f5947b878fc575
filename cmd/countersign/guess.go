package main

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/chains/bitcoin"
)

// transactionInput is a transaction as it was read, and the type it was taken for.
type transactionInput struct {
	kind     activity.TransactionType
	guessed  bool // the type was not given, but found by trying all readers
	text     string
	encoding bitcoin.Encoding
}

// readTransactionAs reads a transaction of the type that --type names, or if none is
// named, of the only type whose reader accepts it. No bytes are known that two of the
// five readers accept; if there were, neither would be chosen.
func readTransactionAs(cmd *cobra.Command, named, file string, limits all.Limits) (transactionInput, error) {
	var read transactionInput
	var err error
	if named != "" {
		if read.kind, err = parseType(named); err != nil {
			return read, err
		}
		if read.text, read.encoding, err = readTransactionOf(cmd, read.kind, file); err == nil {
			err = refuseOther(read, limits)
		}
		return read, err
	}
	content, err := readTransaction(cmd, file)
	if err != nil {
		return read, err
	}
	var taken []transactionInput
	var refusals []string
	for _, kind := range all.TransactionTypes() {
		text, encoding := decodeAs(kind, content)
		_, err := inspectEither(kind, text, limits)
		if err == nil {
			taken = append(taken, transactionInput{kind, true, text, encoding})
			continue
		}
		refusals = append(refusals, fmt.Sprintf("  %s: %v", shortType(kind), err))
	}
	switch len(taken) {
	case 1:
		fmt.Fprintf(cmd.ErrOrStderr(), "Taken for %s: no other chain reads it. Pass --type to name it.\n", taken[0].kind)
		return taken[0], nil
	case 0:
		return read, errors.New("no chain can read this as a transaction; name the intended one with --type:\n" + strings.Join(refusals, "\n"))
	}
	var kinds []string
	for _, one := range taken {
		kinds = append(kinds, shortType(one.kind))
	}
	return read, usagef("this can be read as a transaction of %s: pass --type", strings.Join(kinds, " and of "))
}

// refuseOther refuses a transaction that another chain than that of --type can read: the
// error of the wrong reader would not say so.
func refuseOther(read transactionInput, limits all.Limits) error {
	_, err := inspectEither(read.kind, read.text, limits)
	if err == nil {
		return nil
	}
	for _, kind := range all.TransactionTypes() {
		if kind == read.kind {
			continue
		}
		text, _ := decodeAs(kind, read.text)
		if _, other := inspectEither(kind, text, limits); other == nil {
			return fmt.Errorf("%w; it is a valid %s transaction: pass --type %[2]s", err, shortType(kind))
		}
	}
	return nil // the caller's reader refuses it
}

// shortType returns the short name of a type, which --type takes too.
func shortType(kind activity.TransactionType) string {
	return strings.ToLower(strings.TrimPrefix(string(kind), typePrefix))
}

// inspected is a transaction that was read, and its signers so far.
type inspected struct {
	all.Inspection
	signed  bool
	signers []string // with verified signatures
}

// inspectEither reads an unsigned transaction, or a signed one, whose signatures it
// verifies and removes.
func inspectEither(kind activity.TransactionType, text string, limits all.Limits) (inspected, error) {
	read, err := all.Inspect(kind, text, limits)
	raw, decodeErr := hex.DecodeString(strings.TrimPrefix(text, "0x"))
	if decodeErr != nil {
		return inspected{Inspection: read}, err
	}
	unsigned, signers, isSigned, unsignErr := withoutSignature(kind, raw)
	switch {
	case err == nil: // the reader also accepts partly signed transactions
		signers = append(signers, signersIn(read.Summary.Fields)...)
		return inspected{read, len(signers) > 0, signers}, nil
	case !isSigned:
		return inspected{}, err
	case unsignErr != nil:
		return inspected{}, unsignErr
	}
	read, err = all.Inspect(kind, hex.EncodeToString(unsigned), limits)
	return inspected{read, true, signers}, err
}

// signedBy returns a sentence that names the signers.
func (i *inspected) signedBy() string {
	if len(i.signers) == 0 {
		return "This transaction is signed; this kind of signature does not name the signer."
	}
	return "This transaction is signed by " + strings.Join(i.signers, ", ") + "."
}

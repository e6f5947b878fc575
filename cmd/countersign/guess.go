package main

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains/all"
)

// transactionInput is a transaction as it was read, and the type it was taken for.
type transactionInput struct {
	written
	kind    activity.TransactionType
	guessed bool // the type was not given, but found by trying all readers
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
		content, err := readTransaction(cmd, file)
		if err != nil {
			return read, err
		}
		read.written, err = decodeAs(read.kind, content)
		return read, refuseOther(read.kind, content, read.written, err, limits)
	}
	content, err := readTransaction(cmd, file)
	if err != nil {
		return read, err
	}
	var taken []transactionInput
	var refusals []string
	for _, kind := range all.TransactionTypes() {
		tx, err := decodeAs(kind, content)
		if err == nil {
			_, err = inspectEither(kind, tx.text, limits)
		}
		if err == nil {
			taken = append(taken, transactionInput{tx, kind, true})
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
// error of the wrong reader would not say so. wrong is the error of decodeAs, or nil.
func refuseOther(named activity.TransactionType, content string, read written, wrong error, limits all.Limits) error {
	err := wrong
	if err == nil {
		_, err = inspectEither(named, read.text, limits)
	}
	if err == nil {
		return nil
	}
	for _, kind := range all.TransactionTypes() {
		if kind == named {
			continue
		}
		tx, other := decodeAs(kind, content)
		if other == nil {
			_, other = inspectEither(kind, tx.text, limits)
		}
		if other == nil {
			return fmt.Errorf("%w; it is a valid %s transaction: pass --type %[2]s", err, shortType(kind))
		}
	}
	return wrong // what the engine can read, it refuses itself
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

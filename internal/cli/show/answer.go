// Package show renders transactions, requests and activities for a person.
package show

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/strictjson"
	"github.com/countersign-dev/countersign/internal/ur"
	"github.com/countersign-dev/countersign/verify"
)

// ActivityFieldFlag is --field: it prints one member of an activity or of its result
// instead of the whole answer as JSON.
type ActivityFieldFlag struct{ Name string }

// Register adds the flag to a command.
func (f *ActivityFieldFlag) Register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.Name, "field", "",
		"print only this `FIELD` as plain text: id, status, fingerprint, or a member of the result such as signedTransaction or otpId")
}

// Print prints the field of an answer.
func (f *ActivityFieldFlag) Print(cmd *cobra.Command, answer []byte) error {
	var answered struct {
		Activity struct {
			ID, Status, Fingerprint string
			Result                  map[string]map[string]json.RawMessage
		}
	}
	if err := json.Unmarshal(answer, &answered); err != nil {
		return fmt.Errorf("--field: the answer: %w", err)
	}
	shown := &answered.Activity
	fields := map[string]string{"id": shown.ID, "status": shown.Status, "fingerprint": shown.Fingerprint}
	for kind, members := range shown.Result {
		for member, raw := range members {
			var text string
			var list []string
			switch {
			case kind == "activity": // the whole record again
			case json.Unmarshal(raw, &text) == nil:
				fields[member] = text
			case json.Unmarshal(raw, &list) == nil:
				fields[member] = strings.Join(list, "\n")
			}
		}
	}
	value, ok := fields[f.Name]
	if !ok {
		return fmt.Errorf("--field: activity %s, %s, has no %q: it has %s", shown.ID, shown.Status, f.Name,
			strings.Join(slices.Sorted(maps.Keys(fields)), ", "))
	}
	_, err := fmt.Fprintln(cmd.OutOrStdout(), console.CleanText(value))
	return err
}

// ShortAnswerOf returns the short answer of a record.
func ShortAnswerOf(record *activity.Record) (verify.ShortAnswer, error) {
	var proof *activity.AppProof
	if len(record.AppProofs) > 0 {
		proof = &record.AppProofs[0]
	}
	answer, err := verify.NewShortAnswer(record.Request.Fingerprint, record.Result, proof)
	if err != nil {
		err = fmt.Errorf("%w, and this is the answer to %s: use --out", err, record.Request.Type)
	}
	return answer, err
}

// ShortMessage returns a short answer for QR codes.
func ShortMessage(a verify.ShortAnswer) (ur.Message, error) {
	fingerprint, err := activity.ParseFingerprint(a.Fingerprint)
	if err != nil {
		return ur.Message{}, err
	}
	signed, err := hex.DecodeString(a.SignedTransaction)
	if err != nil {
		return ur.Message{}, err
	}
	answer := ur.Answer{Fingerprint: fingerprint[:], Signed: signed}
	for _, signed := range a.Signatures {
		signature, err := hex.DecodeString(signed.R + signed.S + signed.V)
		if err != nil {
			return ur.Message{}, err
		}
		answer.Signatures = append(answer.Signatures, signature)
	}
	if a.AppProof != nil {
		key, keyErr := hex.DecodeString(a.AppProof.PublicKey)
		signature, signatureErr := hex.DecodeString(a.AppProof.Signature)
		if err := errors.Join(keyErr, signatureErr); err != nil {
			return ur.Message{}, err
		}
		answer.Proof = &ur.Proof{PublicKey: key[:len(key)/2], Payload: a.AppProof.ProofPayload, Signature: signature}
	}
	return answer.Message(), nil
}

// ShortAnswerFrom reads a short answer from QR codes.
func ShortAnswerFrom(message ur.Message) (answer verify.ShortAnswer, err error) {
	read, err := ur.DecodeAnswer(message)
	if err != nil {
		return answer, err
	}
	answer.Fingerprint = "sha256:" + hex.EncodeToString(read.Fingerprint)
	answer.SignedTransaction = hex.EncodeToString(read.Signed)
	for _, signature := range read.Signatures {
		answer.Signatures = append(answer.Signatures, activity.SignRawPayloadResult{R: hex.EncodeToString(signature[:32]),
			S: hex.EncodeToString(signature[32:64]), V: hex.EncodeToString(signature[64:])})
	}
	if read.Proof != nil {
		point := hex.EncodeToString(read.Proof.PublicKey)
		answer.AppProof = &activity.AppProof{Scheme: activity.AppProofScheme, PublicKey: point + point,
			ProofPayload: read.Proof.Payload, Signature: hex.EncodeToString(read.Proof.Signature)}
	}
	return answer, nil
}

// ReadShortAnswer reads a short answer from a file, strictly.
func ReadShortAnswer(content []byte) (answer verify.ShortAnswer, err error) {
	var proof activity.AppProof
	err = strictjson.Read(content, "answer",
		strictjson.Required("fingerprint", &answer.Fingerprint),
		strictjson.Optional("signedTransaction", &answer.SignedTransaction),
		strictjson.Optional("signatures", func(r *strictjson.Reader) error {
			return r.Array(func(r *strictjson.Reader) error {
				answer.Signatures = append(answer.Signatures, activity.SignRawPayloadResult{})
				signed := &answer.Signatures[len(answer.Signatures)-1]
				return r.Object(strictjson.Required("r", &signed.R), strictjson.Required("s", &signed.S),
					strictjson.Required("v", &signed.V))
			})
		}),
		strictjson.Optional("appProof", func(r *strictjson.Reader) error {
			answer.AppProof = &proof
			return r.Object(
				strictjson.Required("scheme", &proof.Scheme), strictjson.Required("publicKey", &proof.PublicKey),
				strictjson.Required("proofPayload", &proof.ProofPayload), strictjson.Required("signature", &proof.Signature))
		}),
	)
	return answer, err
}

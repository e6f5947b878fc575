package activity

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Reading is the engine's reading of a transaction that waits for approvals. It is stored
// with the activity, so that what is signed is what voters were shown.
type Reading struct {
	Summary   string          `json:"summary"` // canonical JSON text
	Effects   string          `json:"effects"` // JSON text of an array
	Hazards   json.RawMessage `json:"hazards"` // array
	Sentences []string        `json:"sentences"`
	KeyIDs    []string        `json:"keyIds"`
	Readings  string          `json:"readings"` // JSON text of an array: what descriptors say about its calls
}

// Digest returns the ShownDigest of the reading.
func (r *Reading) Digest() [32]byte { return ShownDigest(r.Summary, r.Effects, r.KeyIDs, r.Readings) }

// SummaryDigest returns the digest of the summary.
func (r *Reading) SummaryDigest() [32]byte { return sha256.Sum256([]byte(r.Summary)) }

// ShownDigest returns what a vote commits to: the SHA-256 of four SHA-256 digests,
//
//	SHA-256(summary) ‖ SHA-256(key ids, joined by line feeds) ‖ SHA-256(effects) ‖ SHA-256(readings)
//
// where summary, effects and readings are the exact JSON texts of a [Review].
func ShownDigest(summary, effects string, keyIDs []string, readings string) [32]byte {
	ofSummary := sha256.Sum256([]byte(summary))
	ofKeys := sha256.Sum256([]byte(strings.Join(keyIDs, "\n")))
	ofEffects := sha256.Sum256([]byte(effects))
	ofReadings := sha256.Sum256([]byte(readings))
	return sha256.Sum256(slices.Concat(ofSummary[:], ofKeys[:], ofEffects[:], ofReadings[:]))
}

// Check returns an error if the digests of a review do not match its texts. Call it before
// showing the review to a person.
func (r *Review) Check() error {
	summary := sha256.Sum256([]byte(r.Summary))
	shown := ShownDigest(r.Summary, r.Effects, r.KeyIDs, r.Readings)
	switch {
	case r.SummaryDigest != hex.EncodeToString(summary[:]):
		return errors.New("review: summaryDigest is not the digest of summary")
	case r.Shown != hex.EncodeToString(shown[:]):
		return fmt.Errorf("review: shown is not the digest of its summary, effects, keyIds and readings, which is %x",
			shown)
	}
	return nil
}

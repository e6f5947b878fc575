package translog

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// Origin returns the name of an organization's log and of its key: "countersign/" and the
// organization, percent-encoded because names must not have blanks or plus signs.
func Origin(organization string) string {
	return "countersign/" + strings.ReplaceAll(url.PathEscape(organization), "+", "%2B")
}

// Signature types of C2SP signed-note.
const (
	typeEd25519     = 0x01
	typeCosignature = 0x04 // tlog-cosignature, cosignature/v1
)

// Signer signs the checkpoints of logs. It is safe for concurrent use.
type Signer struct {
	key ed25519.PrivateKey
}

// NewSigner returns a signer with an Ed25519 key.
func NewSigner(key ed25519.PrivateKey) *Signer { return &Signer{key} }

// VerifierKey returns the public key of an organization's log in the form of note.NewVerifier.
func (s *Signer) VerifierKey(organization string) string {
	key, _ := note.NewEd25519VerifierKey(Origin(organization), s.key.Public().(ed25519.PublicKey)) // its length is right
	return key
}

// Checkpoint signs a tree as a checkpoint (C2SP tlog-checkpoint), a note of the origin, the
// size and the root:
//
//	countersign/<organization>
//	<size>
//	<root, base64>
//
//	— countersign/<organization> <signature>
func (s *Signer) Checkpoint(organization string, tree tlog.Tree) ([]byte, error) {
	origin := Origin(organization)
	signer := &noteSigner{name: origin, kind: typeEd25519, key: s.key,
		sign: func(text []byte) []byte { return ed25519.Sign(s.key, text) }}
	root := base64.StdEncoding.EncodeToString(tree.Hash[:])
	return note.Sign(&note.Note{Text: fmt.Sprintf("%s\n%d\n%s\n", origin, tree.N, root)}, signer)
}

// Checkpoint is a verified checkpoint.
type Checkpoint struct {
	Origin string
	Tree   tlog.Tree
	Note   *note.Note // with the verified signatures
}

// OpenCheckpoint parses a checkpoint and verifies the signature by the log's key, in the
// form of [Signer.VerifierKey]. It ignores signatures by other keys.
func OpenCheckpoint(signed []byte, verifierKey string) (*Checkpoint, error) {
	verifier, err := note.NewVerifier(verifierKey)
	if err != nil {
		return nil, fmt.Errorf("translog: the log's key: %w", err)
	}
	opened, err := note.Open(signed, note.VerifierList(verifier))
	if err != nil {
		return nil, fmt.Errorf("translog: checkpoint of %s: %w", verifier.Name(), err)
	}
	checkpoint, err := parseCheckpoint(opened.Text)
	if err != nil {
		return nil, err
	}
	if checkpoint.Origin != verifier.Name() {
		return nil, fmt.Errorf("translog: the checkpoint is for log %q, the key is for %q", checkpoint.Origin,
			verifier.Name())
	}
	checkpoint.Note = opened
	return checkpoint, nil
}

var errCheckpoint = errors.New("translog: not a checkpoint: expected lines with the origin, the size and the root")

// parseCheckpoint parses the text of a checkpoint. It accepts no extension lines.
func parseCheckpoint(text string) (*Checkpoint, error) {
	lines := strings.Split(text, "\n")
	if len(lines) != 4 || lines[0] == "" || lines[3] != "" {
		return nil, errCheckpoint
	}
	size, err := strconv.ParseInt(lines[1], 10, 64)
	if err != nil || size < 0 || strconv.FormatInt(size, 10) != lines[1] {
		return nil, errCheckpoint
	}
	root, err := base64.StdEncoding.Strict().DecodeString(lines[2])
	if err != nil || len(root) != sha256.Size {
		return nil, errCheckpoint
	}
	return &Checkpoint{Origin: lines[0], Tree: tlog.Tree{N: size, Hash: tlog.Hash(root)}}, nil
}

type noteSigner struct {
	name string
	kind byte
	key  ed25519.PrivateKey
	sign func(text []byte) []byte
}

var _ note.Signer = (*noteSigner)(nil)

func (s *noteSigner) Name() string { return s.name }

// KeyHash implements note.Signer. It returns the first four bytes, big-endian, of
// SHA-256(name ‖ newline ‖ type ‖ public key).
func (s *noteSigner) KeyHash() uint32 {
	hashed := append([]byte(s.name+"\n"), s.kind)
	sum := sha256.Sum256(append(hashed, s.key.Public().(ed25519.PublicKey)...))
	return binary.BigEndian.Uint32(sum[:])
}

func (s *noteSigner) Sign(text []byte) ([]byte, error) { return s.sign(text), nil }

package logs

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/internal/trust"
	"github.com/countersign-dev/countersign/translog"
)

type witnessCommand struct {
	state, name, logKey, url string
	show                     bool
}

// NewWitnessCommand returns the command witness.
func NewWitnessCommand() *cobra.Command {
	var c witnessCommand
	command := &cobra.Command{
		Use:   "witness [FILE]",
		Short: "Keep and cosign the checkpoints of a log on another machine",
		Long: console.Paragraphs(`
Read the output of 'countersign log checkpoint --old SIZE' from FILE or standard input,
or with --url ask the admin address of a running server. If the log extends the last
checkpoint seen, keep the new one in the folder --state and print it with this witness's
signature (C2SP tlog-cosignature). A log that has become shorter, or has a different
history, is refused, and the last checkpoint is kept.

The folder holds a history of what was seen: if an earlier checkpoint is put back into
it, the witness refuses. Only one process at a time can use the folder.

The first call creates the folder and a key. --show prints the witness's key, and the
size of the log it has seen, for --old.`),
		Example: console.Paragraphs(`
  countersign witness --state kept --log-key countersign/6e1f…+1234abcd+AQ… --url http://signer
  countersign witness --state kept --log-key countersign/6e1f…+1234abcd+AQ… < advance`),
		RunE: c.run,
	}
	flags := command.Flags()
	flags.StringVar(&c.state, "state", "", "`DIR` to keep checkpoints in")
	flags.StringVar(&c.name, "name", "witness", "`NAME` of this witness in its signatures")
	deployment.RegisterLogKey(command, &c.logKey)
	flags.StringVar(&c.url, "url", "", "admin `URL` of a running server to ask for the next checkpoint")
	flags.BoolVar(&c.show, "show", false, "print what was seen, and read nothing")
	console.Exclusive(command, "", "url", "show")
	return command
}

func (c *witnessCommand) run(cmd *cobra.Command, args []string) error {
	if c.state == "" || c.logKey == "" {
		return console.Usagef("--state and --log-key are required: the folder to keep checkpoints in, and what log key prints")
	}
	logKey, err := deployment.ReadLogKey(c.logKey)
	if err != nil {
		return err
	}
	if strings.ContainsAny(c.name, "+ \t\r\n") || c.name == "" {
		return console.Usagef("--name %q: it must not be empty or contain blanks or plus signs", c.name)
	}
	if c.url != "" && len(args) > 0 {
		return console.Usagef("--url does not go with FILE")
	}
	state, err := OpenWitnessState(cmd.Context(), c.state, logKey)
	if err != nil {
		return err
	}
	defer state.Close()
	w := &witnessed{Witness: translog.Witness{Name: c.name, Key: state.key}, logKey: logKey, state: state}
	if c.show {
		var said struct {
			Key  string `json:"witnessKey"`
			Log  string `json:"log"`
			Size int64  `json:"size"`
		}
		said.Key = w.VerifierKey()
		_, seen, err := w.state.kept()
		if err != nil {
			return err
		}
		if seen != nil {
			said.Log, said.Size = seen.Origin, seen.Tree.N
		}
		return console.PrintJSON(cmd.OutOrStdout(), said)
	}
	return w.advance(cmd, args, c.url)
}

type witnessed struct {
	translog.Witness
	logKey string
	state  *witnessState
}

// advance reads the next checkpoint, keeps it, and then prints it cosigned.
func (w *witnessed) advance(cmd *cobra.Command, args []string, url string) error {
	kept, seen, err := w.state.kept()
	if err != nil {
		return err
	}
	var text []byte
	if url != "" {
		text, err = fetchAdvance(cmd.Context(), url, w.logKey, seen)
	} else {
		text, err = readNote(cmd, args)
	}
	if err != nil {
		return err
	}
	advance, err := translog.ParseAdvance(text)
	if err != nil {
		return err
	}
	now := time.Now()
	cosigned, err := w.Cosign(kept, advance, w.logKey, now)
	if err != nil {
		return err
	}
	if err := w.state.keep(cosigned, now); err != nil {
		return err
	}
	_, err = cmd.OutOrStdout().Write(cosigned)
	return err
}

// fetchAdvance asks the admin address of a server for the advance from the checkpoint last seen.
func fetchAdvance(ctx context.Context, base, logKey string, seen *translog.Checkpoint) ([]byte, error) {
	name, _, _ := strings.Cut(logKey, "+")
	organization, ok := strings.CutPrefix(name, translog.Origin(""))
	if !ok {
		return nil, console.Usagef("--log-key: %q is not the name of an organization's log", name)
	}
	var old int64
	if seen != nil {
		old = seen.Tree.N
	}
	return fetchNote(ctx, base, fmt.Sprintf("/log/%s/checkpoint?old=%d", organization, old))
}

// fetchTimeout bounds a request for a checkpoint or a proof.
const fetchTimeout = 30 * time.Second

func fetchNote(ctx context.Context, base, path string) ([]byte, error) {
	response, note, err := deployment.GetAdmin(ctx, base, path, fetchTimeout)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s: %s", response.Request.URL.Redacted(), response.Status, note)
	}
	return note, err
}

// readNote reads a checkpoint or a proof from the file that is named, or from standard input.
func readNote(cmd *cobra.Command, args []string) ([]byte, error) {
	if len(args) > 0 {
		return console.ReadText(args[0], deployment.MaxNote)
	}
	return console.ReadStandardInput(cmd, "proof or checkpoint", deployment.MaxNote)
}

// witnessState is the folder of a witness, and its state for one log:
//
//	lock                 held by flock(2) while a process uses the folder
//	witness.pem          the key
//	LOG.checkpoint       the last checkpoint, cosigned
//	LOG.checkpoint.next  the next checkpoint, until the history has it
//	LOG.history          one line per checkpoint: size, root in base64, time
//
// A new checkpoint is first written to .next, then its line is appended to the history,
// and then .next is renamed to .checkpoint. If the process is killed in between, the next
// call finishes the update. A checkpoint that is not the last in the history was put back.
type witnessState struct {
	key    ed25519.PrivateKey
	logKey string
	Path   string // of the folder's files for this log, up to LOG
	lock   *os.File
}

const witnessKeyName = "witness.pem"

// OpenWitnessState opens the state of a witness, or creates it.
func OpenWitnessState(ctx context.Context, dir, logKey string) (s *witnessState, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	held, err := trust.TryLock(lock)
	if err == nil && !held {
		err = errors.New("in use by another witness")
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("--state %s: %w", dir, err), lock.Close())
	}
	s = &witnessState{logKey: logKey, lock: lock, Path: filepath.Join(dir, fmt.Sprintf("%x", sha256.Sum256([]byte(logKey))))}
	if s.key, err = openWitnessKey(ctx, filepath.Join(dir, witnessKeyName)); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Close unlocks the state.
func (s *witnessState) Close() { _ = s.lock.Close() }

func (s *witnessState) checkpoint() string { return s.Path + ".checkpoint" }
func (s *witnessState) next() string       { return s.checkpoint() + ".next" }
func (s *witnessState) history() string    { return s.Path + ".history" }

// openWitnessKey opens the key of the witness. It creates one if there is none.
func openWitnessKey(ctx context.Context, path string) (ed25519.PrivateKey, error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		_, key, err := ed25519.GenerateKey(rand.Reader)
		if err != nil {
			return nil, err
		}
		if err := console.WriteKey(path, key); err != nil {
			return nil, err
		}
	}
	return deployment.ReadEd25519(ctx, path)
}

// kept returns the last checkpoint, cosigned and parsed; nil if there is none. It finishes the
// update of a killed process, and refuses a checkpoint that is not the last in the history.
func (s *witnessState) kept() ([]byte, *translog.Checkpoint, error) {
	last, err := s.lastSeen()
	if err != nil {
		return nil, nil, err
	}
	kept, seen, err := s.read(s.checkpoint())
	if err != nil {
		return nil, nil, err
	}
	if treeOf(seen) == last {
		return kept, seen, nil
	}
	if next, read, err := s.read(s.next()); err == nil && read != nil && treeOf(read) == last {
		return next, read, errors.Join(os.Rename(s.next(), s.checkpoint()), trust.SyncDirectory(s.Path))
	}
	return nil, nil,
		fmt.Errorf("%s has %d leaves, but the history of this witness ends at %d: an earlier state was put back, "+
			"or one of its files is gone; start again in a new folder from a checkpoint that you trust",
			s.checkpoint(), treeOf(seen).N, last.N)
}

// treeOf returns the tree of a checkpoint, which may be nil.
func treeOf(seen *translog.Checkpoint) (tree tlog.Tree) {
	if seen != nil {
		tree = seen.Tree
	}
	return tree
}

// read reads a checkpoint. It returns nil if there is none.
func (s *witnessState) read(path string) ([]byte, *translog.Checkpoint, error) {
	signed, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	seen, err := translog.OpenCheckpoint(signed, s.logKey)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return signed, seen, nil
}

// lastSeen returns the tree in the last complete line of the history. A line without a
// newline was cut off: no checkpoint was kept for it.
func (s *witnessState) lastSeen() (last tlog.Tree, err error) {
	history, err := os.ReadFile(s.history())
	if errors.Is(err, fs.ErrNotExist) {
		return last, nil
	}
	history = history[:bytes.LastIndexByte(history, '\n')+1]
	if err != nil || len(history) == 0 {
		return last, err
	}
	line := history[bytes.LastIndexByte(history[:len(history)-1], '\n')+1:]
	var root, seen string
	if _, err := fmt.Sscanf(string(line), "%d %s %s\n", &last.N, &root, &seen); err != nil {
		return last, fmt.Errorf("%s: the last line: %w", s.history(), err)
	}
	hash, err := base64.StdEncoding.DecodeString(root)
	if err != nil || len(hash) != tlog.HashSize {
		return last, fmt.Errorf("%s: the last line: the root is not 32 bytes in base64", s.history())
	}
	last.Hash = tlog.Hash(hash)
	return last, nil
}

// keep stores the next checkpoint durably.
func (s *witnessState) keep(cosigned []byte, now time.Time) error {
	seen, err := translog.OpenCheckpoint(cosigned, s.logKey)
	if err != nil {
		return err
	}
	if err := os.Remove(s.next()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := console.WriteNew(s.next(), cosigned); err != nil {
		return err
	}
	if err := trust.SyncDirectory(s.Path); err != nil {
		return err
	}
	line := fmt.Sprintf("%d %s %s\n", seen.Tree.N, base64.StdEncoding.EncodeToString(seen.Tree.Hash[:]), now.UTC().Format(time.RFC3339))
	if err := s.appendHistory(line); err != nil {
		return err
	}
	return errors.Join(os.Rename(s.next(), s.checkpoint()), trust.SyncDirectory(s.Path))
}

// appendHistory writes a line after the last complete one.
func (s *witnessState) appendHistory(line string) (err error) {
	file, err := os.OpenFile(s.history(), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	written, err := os.ReadFile(s.history())
	if err != nil {
		return err
	}
	if _, err := file.WriteAt([]byte(line), int64(bytes.LastIndexByte(written, '\n')+1)); err != nil {
		return err
	}
	return file.Sync()
}

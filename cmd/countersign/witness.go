package main

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/translog"
)

// maxNote bounds what a proof or a checkpoint may be long.
const maxNote = 64 << 10

// witnessKeyName is the witness's key in the folder of its state.
const witnessKeyName = "witness.pem"

func newWitnessCommand() *cobra.Command {
	var state, name, logKey string
	command := &cobra.Command{
		Use:   "witness [FILE]",
		Short: "Keep and cosign the checkpoints of a log on another machine",
		Long: paragraphs(`
Read what 'log checkpoint --old SIZE' printed. If the log extends the last checkpoint
that was kept of it, keep the new one in the folder --state, and print it with this
witness's signature (C2SP tlog-cosignature). A log that has become shorter, or has
another history, is refused, and what was kept stays.

The first call makes the folder and a key. --show prints the witness's key and the
size of the log that it has seen, for --old.`),
		Example: "  countersign witness --state kept --log-key countersign/6e1f…+1234abcd+AQ… < advance",
		Args:    cobra.MaximumNArgs(1),
	}
	flags := command.Flags()
	flags.StringVar(&state, "state", "", "`DIR` to keep checkpoints in")
	flags.StringVar(&name, "name", "witness", "`NAME` of this witness in its signatures")
	registerLogKey(command, &logKey)
	show := flags.Bool("show", false, "print what was seen, and read nothing")
	command.RunE = func(cmd *cobra.Command, args []string) error {
		if state == "" || logKey == "" {
			return usagef("--state and --log-key are needed: the folder to keep checkpoints in, and what log key printed")
		}
		logKey, err := readLogKey(logKey)
		if err != nil {
			return err
		}
		if strings.ContainsAny(name, "+ \t\r\n") || name == "" {
			return usagef("--name %q: blanks and plus signs cannot be in it", name)
		}
		key, err := openWitnessKey(cmd, state)
		if err != nil {
			return err
		}
		w := &witnessed{Witness: translog.Witness{Name: name, Key: key}, logKey: logKey, path: checkpointPath(state, logKey)}
		if *show {
			return w.show(cmd)
		}
		return w.advance(cmd, args)
	}
	return command
}

// openWitnessKey opens the key of the witness, and makes it if it is not there.
func openWitnessKey(cmd *cobra.Command, state string) (ed25519.PrivateKey, error) {
	path := filepath.Join(state, witnessKeyName)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(state, 0o700); err != nil {
			return nil, err
		}
		_, key, err := ed25519.GenerateKey(rand.Reader)
		if err != nil {
			return nil, err
		}
		if err := writeKey(path, key); err != nil {
			return nil, err
		}
	}
	return readEd25519(cmd.Context(), path)
}

// checkpointPath is where the last checkpoint of a log is kept.
func checkpointPath(state, logKey string) string {
	return filepath.Join(state, fmt.Sprintf("%x.checkpoint", sha256.Sum256([]byte(logKey))))
}

// witnessed is a witness of one log.
type witnessed struct {
	translog.Witness
	logKey, path string
}

// kept is the last checkpoint; nil if there is none.
func (w *witnessed) kept() ([]byte, error) {
	kept, err := os.ReadFile(w.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return kept, err
}

func (w *witnessed) show(cmd *cobra.Command) error {
	var said struct {
		Key  string `json:"witnessKey"`
		Log  string `json:"log"`
		Size int64  `json:"size"`
	}
	said.Key = w.VerifierKey()
	kept, err := w.kept()
	if err != nil {
		return err
	}
	if kept != nil {
		checkpoint, err := translog.OpenCheckpoint(kept, w.logKey)
		if err != nil {
			return err
		}
		said.Log, said.Size = checkpoint.Origin, checkpoint.Tree.N
	}
	return printJSON(cmd.OutOrStdout(), said)
}

// advance keeps the next checkpoint before it prints it.
func (w *witnessed) advance(cmd *cobra.Command, args []string) error {
	text, err := readUpTo(cmd, args, maxNote)
	if err != nil {
		return err
	}
	advance, err := translog.ParseAdvance(text)
	if err != nil {
		return err
	}
	kept, err := w.kept()
	if err != nil {
		return err
	}
	cosigned, err := w.Cosign(kept, advance, w.logKey, time.Now())
	if err != nil {
		return err
	}
	if err := replaceFile(w.path, cosigned); err != nil {
		return err
	}
	_, err = cmd.OutOrStdout().Write(cosigned)
	return err
}

// replaceFile replaces a file whole, safely on disk.
func replaceFile(path string, content []byte) error {
	next := path + ".next"
	if err := os.Remove(next); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := writeNew(next, content); err != nil {
		return err
	}
	return os.Rename(next, path)
}

// readUpTo reads a file that is named, or standard input.
func readUpTo(cmd *cobra.Command, args []string, most int64) ([]byte, error) {
	from := cmd.InOrStdin()
	if len(args) > 0 {
		file, err := os.Open(args[0])
		if err != nil {
			return nil, err
		}
		defer func() { _ = file.Close() }()
		from = file
	}
	content, err := io.ReadAll(io.LimitReader(from, most+1))
	if err == nil && int64(len(content)) > most {
		err = fmt.Errorf("more than %d bytes: this is no proof nor checkpoint", most)
	}
	return content, err
}

package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/translog"
)

// maxNote bounds what a proof or a checkpoint may be long.
const maxNote = 64 << 10

func newWitnessCommand() *cobra.Command {
	var state, name, logKey, url string
	command := &cobra.Command{
		Use:   "witness [FILE]",
		Short: "Keep and cosign the checkpoints of a log on another machine",
		Long: paragraphs(`
Read what 'log checkpoint --old SIZE' printed, or ask the admin address of a running
server for it, with --url. If the log extends the last checkpoint
that was kept of it, keep the new one in the folder --state, and print it with this
witness's signature (C2SP tlog-cosignature). A log that has become shorter, or has
another history, is refused, and what was kept stays.

The folder has a history of what was seen: an earlier state of the folder's checkpoint
that is put back is refused. One process at a time uses it.

The first call makes the folder and a key. --show prints the witness's key and the
size of the log that it has seen, for --old.`),
		Example: paragraphs(`
  countersign witness --state kept --log-key countersign/6e1f…+1234abcd+AQ… --url http://signer:8081
  countersign witness --state kept --log-key countersign/6e1f…+1234abcd+AQ… < advance`),
		Args: cobra.MaximumNArgs(1),
	}
	flags := command.Flags()
	flags.StringVar(&state, "state", "", "`DIR` to keep checkpoints in")
	flags.StringVar(&name, "name", "witness", "`NAME` of this witness in its signatures")
	registerLogKey(command, &logKey)
	flags.StringVar(&url, "url", "", "`URL` of the admin address of a running server, to ask for what comes next")
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
		if url != "" && (len(args) > 0 || *show) {
			return usagef("--url does not go with FILE, nor with --show")
		}
		at, err := openWitnessState(cmd.Context(), state, logKey)
		if err != nil {
			return err
		}
		defer at.close()
		w := &witnessed{Witness: translog.Witness{Name: name, Key: at.key}, logKey: logKey, state: at}
		if *show {
			return w.show(cmd)
		}
		return w.advance(cmd, args, url)
	}
	return command
}

// witnessed is a witness of one log.
type witnessed struct {
	translog.Witness
	logKey string
	state  *witnessState
}

func (w *witnessed) show(cmd *cobra.Command) error {
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
	return printJSON(cmd.OutOrStdout(), said)
}

// advance keeps the next checkpoint before it prints it.
func (w *witnessed) advance(cmd *cobra.Command, args []string, url string) error {
	kept, seen, err := w.state.kept()
	if err != nil {
		return err
	}
	var text []byte
	if url != "" {
		text, err = fetchAdvance(cmd.Context(), url, w.logKey, seen)
	} else {
		text, err = readUpTo(cmd, args, maxNote)
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

// fetchTimeout bounds a request for a checkpoint or a proof.
const fetchTimeout = 30 * time.Second

// fetchAdvance asks the admin address of a server for the advance from what was seen.
func fetchAdvance(ctx context.Context, base, logKey string, seen *translog.Checkpoint) ([]byte, error) {
	name, _, _ := strings.Cut(logKey, "+")
	organization, ok := strings.CutPrefix(name, translog.Origin(""))
	if !ok {
		return nil, usagef("--log-key: %q names no log of an organization", name)
	}
	var old int64
	if seen != nil {
		old = seen.Tree.N
	}
	return fetchNote(ctx, fmt.Sprintf("%s/log/%s/checkpoint?old=%d", strings.TrimRight(base, "/"), organization, old))
}

// fetchNote asks the admin address of a server for a checkpoint or a proof.
func fetchNote(ctx context.Context, from string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, from, http.NoBody)
	if err != nil {
		return nil, usagef("--url: %v", err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxNote))
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s: %s", from, response.Status, cleanText(strings.TrimSpace(string(text))))
	}
	return text, err
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

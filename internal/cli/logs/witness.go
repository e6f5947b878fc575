package logs

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
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
  countersign witness --state kept --log-key countersign/6e1f…+1234abcd+AQ… --url http://signer:8081
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

// fetchAdvance asks the admin address of a server for the advance from the checkpoint last
// seen.
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

// readNote reads a checkpoint or a proof from the file that is named, or from standard
// input.
func readNote(cmd *cobra.Command, args []string) ([]byte, error) {
	if len(args) > 0 {
		return console.ReadText(args[0], deployment.MaxNote)
	}
	return console.ReadStandardInput(cmd, "proof or checkpoint", deployment.MaxNote)
}

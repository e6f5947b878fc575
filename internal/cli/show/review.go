package show

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/chains/names"
	api "github.com/countersign-dev/countersign/client"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/terminal"
	"github.com/countersign-dev/countersign/internal/intents"
)

// View is a transaction or message as it is shown to a person.
type View struct {
	Summary chains.Summary
	Effects []chains.Effect // with the signer and change resolved; nil: those of the summary
	Signer  []chains.Field  // what depends on the signer, if that is known
	Reading chains.Readings // of descriptors
	Hazards []chains.Hazard
	Names   chains.Names   // nil: the built-in names
	Message bool           // a message, not a transaction
	waits   []chains.Field // for a request that waits for votes: who submitted it, what is missing
	Notes   []string       // what the reader must know first, one line each
}

// What returns the word for it in a sentence.
func (v View) What() string {
	if v.Message {
		return "message"
	}
	return "transaction"
}

// ViewOf returns the view of a prepared transaction. It looks up in the keystore which
// addresses are the signer's own.
func ViewOf(ctx context.Context, prepared *countersign.Prepared, names chains.Names) (View, error) {
	effects, err := prepared.Effects(ctx)
	if err != nil {
		return View{}, err
	}
	signer, err := prepared.SignerView(ctx)
	if err != nil {
		return View{}, err
	}
	return View{Summary: prepared.Summary(), Effects: effects, Signer: signer,
		Reading: prepared.Readings(), Hazards: prepared.Hazards(), Names: names}, nil
}

// NetworkFields returns the network of the addresses in the view of a transaction whose
// signer is not known, if its bytes name none: see [chains.Forms].
func NetworkFields(summary *chains.Summary, limits all.Limits) []chains.Field {
	for _, chain := range all.Chains(limits) {
		if network := chain.Words().Forms.Network; network != "" && chain.Name() == summary.Chain {
			return []chains.Field{chains.Text("network", network).WithNote("of the addresses shown")}
		}
	}
	return nil
}

// Tokens returns the built-in names of tokens and addresses.
var Tokens = sync.OnceValue(func() *names.Book { return names.New(all.Chains(all.Limits{})...) })

// Render writes what signing does in sentences, then the details, the hazards and the
// digest. It writes once, so that no other output comes in between.
func (v View) Render(w io.Writer) error {
	fields := slices.Concat(v.Signer, v.Summary.Fields, v.Reading.Show(), []chains.Field{
		v.hazardField(),
		chains.Text("summary digest", groups(v.Summary.Digest())),
	}, v.waits)
	var text bytes.Buffer
	for _, note := range v.Notes {
		fmt.Fprintln(&text, note)
	}
	effects := v.Effects
	if effects == nil {
		effects = v.Summary.Effects
	}
	_, sentences := names.Described(effects, v.Names)
	for _, sentence := range sentences {
		fmt.Fprintln(&text, chains.Wrap(sentence, 0))
	}
	if err := chains.Render(&text, []chains.Field{chains.List(v.Summary.Chain+" "+v.What(), fields...)}); err != nil {
		return err
	}
	_, err := w.Write(text.Bytes())
	return err
}

// groups returns a digest in groups of four hex digits, for comparing by eye.
func groups(digest [32]byte) string {
	var out strings.Builder
	for i := 0; i < len(digest); i += 2 {
		fmt.Fprintf(&out, "%x ", digest[i:i+2])
	}
	return strings.TrimSpace(out.String())
}

func (v View) hazardField() chains.Field {
	if len(v.Hazards) == 0 {
		return chains.Text("hazards", "none")
	}
	fields := make([]chains.Field, len(v.Hazards))
	for i, hazard := range v.Hazards {
		fields[i] = chains.Text(hazard.Name, hazard.Detail)
	}
	return chains.List("hazards", fields...)
}

// ConfirmShown shows a transaction or a message on standard error, and asks a question
// about it on the terminal. If the answer is no, it returns an error that begins with
// outcome, such as "not signed".
func ConfirmShown(cmd *cobra.Command, yes bool, shown View, question, outcome string) error {
	if err := shown.Render(cmd.ErrOrStderr()); err != nil {
		return err
	}
	return console.Confirmed(yes, func(tty *terminal.Terminal) error {
		// If standard error goes elsewhere, show it on the terminal too: the person
		// who is asked must have seen it.
		if !terminal.Is(cmd.ErrOrStderr()) {
			if err := shown.Render(tty); err != nil {
				return err
			}
		}
		return console.Ask(cmd.Context(), tty, question, outcome)
	})
}

// Reviewed returns the view of a request that waits for votes. It reads the request from
// its body, and compares that with what the server shows: a malicious server can withhold
// a request, but cannot have anything approved that is not shown here.
func Reviewed(waiting *api.Activity, limits all.Limits, names chains.Names) (View, error) {
	request, err := bodyOf(waiting)
	if err != nil {
		return View{}, err
	}
	inspection, shown, err := ViewOfBody(request, limits, names)
	if err != nil {
		return View{}, err
	}
	review := waiting.Review
	if review == nil {
		return View{}, fmt.Errorf("activity %s is %s, and this user cannot vote on it", waiting.ID, waiting.Status)
	}
	if err := review.Check(); err != nil {
		return View{}, fmt.Errorf("the server shows something else than it asks a vote for: %w", err)
	}
	if digest := inspection.Summary.Digest(); hex.EncodeToString(digest[:]) != review.SummaryDigest {
		return View{},
			fmt.Errorf("the server reads the %s differently than this command: vote with a command of the server's "+
				"version, and with its --network", shown.What())
	}
	if shown.Hazards, err = hazardsOf(review, inspection.Hazards); err != nil {
		return View{}, err
	}
	shown.waits = slices.Concat(shown.waits, resolvedFields(review, inspection.Effects, names), waitingFields(waiting))
	return shown, nil
}

// bodyOf reads the body of an activity, which must match its fingerprint.
func bodyOf(waiting *api.Activity) (*activity.Request, error) {
	if len(waiting.Votes) == 0 {
		return nil, errors.New("the server does not show the submitter's vote, and so no body")
	}
	body := []byte(waiting.Votes[0].Message)
	if got := activity.Fingerprint(sha256.Sum256(body)); got.String() != waiting.Fingerprint {
		return nil, fmt.Errorf("the server shows another body, with the fingerprint %s, instead of %s", got, waiting.Fingerprint)
	}
	return activity.Decode(body)
}

// ViewOfBody returns the view of a request without knowing its keys.
func ViewOfBody(request *activity.Request, limits all.Limits, names chains.Names) (all.Inspection, View, error) {
	inspection, err := all.InspectIntent(request.Intent, limits)
	if err != nil {
		return inspection, View{}, err
	}
	return inspection, View{Summary: inspection.Summary, Effects: inspection.Effects,
		Signer: NetworkFields(&inspection.Summary, limits), Hazards: inspection.Hazards, Names: names,
		Message: intents.IsMessage(request.Intent), waits: []chains.Field{ // a vote for the body is a vote for this too
			chains.Text("sign with", signWith(request.Intent)),
			chains.Text("requested at", request.Time().UTC().Format(time.RFC3339)),
		}}, nil
}

// signWith returns what an intent signs with, each once.
func signWith(intent activity.Intent) string {
	list, ok := intent.(activity.SignTransactionsIntent)
	if !ok {
		return intents.SignWith(intent)
	}
	var all []string
	for _, listed := range list.Transactions {
		all = append(all, listed.SignWith)
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), ", ")
}

// hazardsOf returns the hazards that the server names, which knows the keys, and those found here.
func hazardsOf(review *activity.Review, computed []chains.Hazard) ([]chains.Hazard, error) {
	var all []chains.Hazard
	if err := json.Unmarshal(review.Hazards, &all); err != nil {
		return nil, fmt.Errorf("review: hazards: %w", err)
	}
	for _, hazard := range computed {
		if !slices.ContainsFunc(all, func(other chains.Hazard) bool { return other.Name == hazard.Name }) {
			all = append(all, hazard)
		}
	}
	return all, nil
}

// resolvedFields returns what the server adds, which knows the signer: its sentences, if
// they differ, and the readings of descriptors.
func resolvedFields(review *activity.Review, computed []chains.Effect, known chains.Names) []chains.Field {
	var fields []chains.Field
	if _, sentences := names.Described(computed, known); !slices.Equal(sentences, review.Sentences) {
		var lines []chains.Field
		for i, sentence := range review.Sentences {
			lines = append(lines, chains.Text(fmt.Sprint(i+1), sentence))
		}
		fields = append(fields, chains.List("with the signer, by the engine", lines...))
	}
	if review.Readings != "[]" {
		fields = append(fields, chains.Text("descriptors, by the engine", review.Readings))
	}
	return fields
}

func waitingFields(waiting *api.Activity) []chains.Field {
	review := waiting.Review
	fields := []chains.Field{
		chains.Text("submitted by", voterName(&waiting.Votes[0])),
		chains.Text("submitted at", waiting.CreatedAt.Time().Format(time.RFC3339)),
		chains.Text("keys", strings.Join(review.KeyIDs, ", ")),
		chains.Text("rules", strings.Join(review.Rules, ", ")),
	}
	for _, taken := range review.Limits {
		fields = append(fields, chains.Text("takes", taken))
	}
	for _, vote := range waiting.Votes[1:] {
		word := "rejected"
		if vote.Selection == activity.SelectionApproved {
			word = "approved"
		}
		fields = append(fields, chains.Text("voted", voterName(&vote)+" "+word))
	}
	for _, group := range review.Missing {
		fields = append(fields, chains.Text("missing", MissingText(group)))
	}
	if review.Reason != "" {
		fields = append(fields, chains.Text("not signed now", review.Reason))
	}
	if !review.ExpiresAt.IsZero() {
		fields = append(fields, chains.Text("expires", review.ExpiresAt.UTC().Format(time.RFC3339)))
	}
	if digest, err := hex.DecodeString(review.Shown); err == nil && len(digest) == sha256.Size {
		fields = append(fields, chains.Text("vote digest", groups([32]byte(digest))))
	}
	return fields
}

func voterName(vote *activity.Vote) string {
	if vote.UserName == "" {
		return vote.UserID
	}
	return vote.UserName + ", " + vote.UserID
}

// MissingText describes the votes that a group still needs.
func MissingText(group activity.Group) string {
	var voters []string
	if group.Tag != "" {
		voters = append(voters, "with tag "+group.Tag)
	}
	if len(group.Users) > 0 {
		voters = append(voters, "of "+strings.Join(group.Users, ", "))
	}
	if group.NotSubmitter {
		voters = append(voters, "not the submitter")
	}
	if group.Passkey {
		voters = append(voters, "with a passkey")
	}
	votes := "votes"
	if group.Count == 1 {
		votes = "vote"
	}
	return strings.TrimSpace(fmt.Sprintf("%d of %d %s %s (rule %s)", group.Missing, group.Count,
		votes, strings.Join(voters, ", "), group.Rule))
}

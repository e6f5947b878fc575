package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/names"
	api "github.com/countersign-dev/countersign/client"
)

// reviewed reads a request that waits for votes, from its body alone, and compares
// that with what the server shows of it: a server that is not to be trusted can
// leave out, but not have something else approved than what is shown here.
func reviewed(waiting *api.Activity, limits countersign.Limits, known chains.Names) (view, error) {
	request, err := bodyOf(waiting)
	if err != nil {
		return view{}, err
	}
	seen, shown, err := viewOfBody(request, limits, known)
	if err != nil {
		return view{}, err
	}
	review := waiting.Review
	if review == nil {
		return view{}, fmt.Errorf("activity %s is %s, and has nothing to vote on for this user", waiting.ID, waiting.Status)
	}
	if err := review.Check(); err != nil {
		return view{}, fmt.Errorf("the server shows what it does not ask a vote for: %w", err)
	}
	if digest := seen.Summary.Digest(); hex.EncodeToString(digest[:]) != review.SummaryDigest {
		return view{}, fmt.Errorf("the server reads the %s in another way than this command does: vote with a command of the server's version, and its --network", shown.what())
	}
	if shown.hazards, err = hazardsOf(review, seen.Hazards); err != nil {
		return view{}, err
	}
	shown.waits = append(resolvedFields(review, seen.Effects, known), waitingFields(waiting)...)
	return shown, nil
}

// bodyOf reads the body of an activity, which is that of its fingerprint.
func bodyOf(waiting *api.Activity) (*activity.Request, error) {
	if len(waiting.Votes) == 0 {
		return nil, errors.New("the server shows no vote of the submitter, and so no body")
	}
	body := []byte(waiting.Votes[0].Message)
	if got := activity.Fingerprint(sha256.Sum256(body)); got.String() != waiting.Fingerprint {
		return nil, fmt.Errorf("the server shows another body, of %s, than that of %s", got, waiting.Fingerprint)
	}
	return activity.Decode(body)
}

// viewOfBody is what is shown of a request without a key.
func viewOfBody(request *activity.Request, limits countersign.Limits, known chains.Names) (countersign.Inspection, view, error) {
	seen, err := countersign.InspectIntent(request.Intent, limits)
	if err != nil {
		return seen, view{}, err
	}
	_, transaction := request.Intent.(activity.SignTransactionIntent)
	return seen, view{summary: seen.Summary, effects: seen.Effects, hazards: seen.Hazards, names: known, message: !transaction}, nil
}

// hazardsOf are the hazards that the server names, which knows the keys, and those
// that are seen here.
func hazardsOf(review *activity.Review, seen []chains.Hazard) ([]chains.Hazard, error) {
	var all []chains.Hazard
	if err := json.Unmarshal(review.Hazards, &all); err != nil {
		return nil, fmt.Errorf("review: hazards: %w", err)
	}
	for _, hazard := range seen {
		if !slices.ContainsFunc(all, func(other chains.Hazard) bool { return other.Name == hazard.Name }) {
			all = append(all, hazard)
		}
	}
	return all, nil
}

// resolvedFields say what the server adds, which knows the signer: its sentences
// where they are others, and what descriptors read.
func resolvedFields(review *activity.Review, seen []chains.Effect, known chains.Names) []chains.Field {
	var fields []chains.Field
	if !slices.Equal(names.Sentences(seen, known), review.Sentences) {
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

// waitingFields say by which user it was asked, and what is missing.
func waitingFields(waiting *api.Activity) []chains.Field {
	review := waiting.Review
	fields := []chains.Field{
		chains.Text("asked by", voterName(&waiting.Votes[0])),
		chains.Text("asked at", waiting.CreatedAt.Time().Format(time.RFC3339)),
		chains.Text("keys", strings.Join(review.KeyIDs, ", ")),
		chains.Text("rules", strings.Join(review.Rules, ", ")),
	}
	for _, vote := range waiting.Votes[1:] {
		fields = append(fields, chains.Text("voted", voterName(&vote)+" "+selectionWord(vote.Selection)))
	}
	for _, group := range review.Missing {
		fields = append(fields, chains.Text("missing", missingText(group)))
	}
	if review.Reason != "" {
		fields = append(fields, chains.Text("not signed now", review.Reason))
	}
	if !review.ExpiresAt.IsZero() {
		fields = append(fields, chains.Text("rejected at", review.ExpiresAt.UTC().Format(time.RFC3339)))
	}
	if digest, err := hex.DecodeString(review.Shown); err == nil && len(digest) == sha256.Size {
		fields = append(fields, chains.Text("vote digest", groups([32]byte(digest))))
	}
	return fields
}

func voterName(vote *api.Vote) string {
	if vote.User.Name == "" {
		return vote.UserID
	}
	return vote.User.Name + ", " + vote.UserID
}

func selectionWord(selection activity.Selection) string {
	if selection == activity.SelectionApproved {
		return "approved"
	}
	return "rejected"
}

// missingText says what a group still needs.
func missingText(group activity.ApprovalGroup) string {
	var of []string
	if group.Tag != "" {
		of = append(of, "with tag "+group.Tag)
	}
	if len(group.Users) > 0 {
		of = append(of, "of "+strings.Join(group.Users, ", "))
	}
	if group.NotSubmitter {
		of = append(of, "not the submitter")
	}
	if group.Passkey {
		of = append(of, "with a passkey")
	}
	return strings.TrimSpace(fmt.Sprintf("%d of %d votes %s (rule %s)", group.Missing, group.Count, strings.Join(of, ", "), group.Rule))
}

// Package show renders transactions, requests and activities for a person.
package show

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/internal/cli/console"
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

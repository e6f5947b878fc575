package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// activityFieldFlag picks what is printed of an activity: one of its members, or one of
// its result. Without it the answer is printed, as JSON.
type activityFieldFlag struct{ name string }

func (f *activityFieldFlag) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.name, "field", "", "print one `FIELD` of the activity as plain text: id, status, fingerprint, or a member of its result, such as signedTransaction or otpId")
}

// print prints the field of an answer.
func (f *activityFieldFlag) print(cmd *cobra.Command, answer []byte) error {
	value, err := f.of(answer)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(cmd.OutOrStdout(), cleanText(value))
	return err
}

func (f *activityFieldFlag) of(answer []byte) (string, error) {
	var answered struct {
		Activity struct {
			ID, Status, Fingerprint string
			Result                  map[string]map[string]json.RawMessage
		}
	}
	if err := json.Unmarshal(answer, &answered); err != nil {
		return "", fmt.Errorf("--field: the answer: %w", err)
	}
	one := &answered.Activity
	fields := map[string]string{"id": one.ID, "status": one.Status, "fingerprint": one.Fingerprint}
	for kind, members := range one.Result {
		for member, raw := range members {
			var text string
			if kind != "activity" && json.Unmarshal(raw, &text) == nil { // "activity" is the whole, once more
				fields[member] = text
			}
		}
	}
	if value, ok := fields[f.name]; ok {
		return value, nil
	}
	return "", fmt.Errorf("--field: activity %s, %s, has no %q: it has %s", one.ID, one.Status, f.name, strings.Join(slices.Sorted(maps.Keys(fields)), ", "))
}

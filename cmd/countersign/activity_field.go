package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// activityFieldFlag is --field: it prints one member of an activity or of its result
// instead of the whole answer as JSON.
type activityFieldFlag struct{ name string }

func (f *activityFieldFlag) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.name, "field", "", "print only this `FIELD` as plain text: id, status, fingerprint, or a member of the result such as signedTransaction or otpId")
}

// print prints the field of an answer.
func (f *activityFieldFlag) print(cmd *cobra.Command, answer []byte) error {
	value, err := f.value(answer)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(cmd.OutOrStdout(), cleanText(value))
	return err
}

func (f *activityFieldFlag) value(answer []byte) (string, error) {
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
			if kind != "activity" && json.Unmarshal(raw, &text) == nil { // "activity" is the whole record again
				fields[member] = text
			}
		}
	}
	if value, ok := fields[f.name]; ok {
		return value, nil
	}
	return "", fmt.Errorf("--field: activity %s, %s, has no %q: it has %s", one.ID, one.Status, f.name, strings.Join(slices.Sorted(maps.Keys(fields)), ", "))
}

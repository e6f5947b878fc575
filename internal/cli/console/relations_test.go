package console

import (
	"io"
	"testing"

	"github.com/spf13/cobra"
)

// TestRelations: what cobra refuses is said as the other errors are, with the reason.
func TestRelations(t *testing.T) {
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"--a", "--b"}, "--a does not go with --b: pass one of them"},
		{[]string{"--b", "--c"}, "--b does not go with --c"},
		{[]string{"--f"}, "--f goes with --a or --g"},
		{[]string{"--f", "--g", "--d"}, ""},
		{[]string{"--x"}, "unknown flag: --x"},
		{nil, ""},
	} {
		cmd := &cobra.Command{Use: "x", RunE: func(*cobra.Command, []string) error { return nil }, SilenceErrors: true, SilenceUsage: true}
		for _, name := range []string{"a", "b", "c", "d", "f", "g"} {
			cmd.Flags().Bool(name, false, "")
		}
		Exclusive(cmd, "pass one of them", "a", "b")
		Exclusive(cmd, "", "b", "c")
		Needs(cmd, []string{"f"}, []string{"a", "g"})
		cmd.SetArgs(append([]string{}, test.args...))
		cmd.SetOut(io.Discard)
		err := cmd.Execute()
		got := ""
		if err != nil {
			got = Rephrased(cmd, err).Error()
		}
		if got != test.want {
			t.Errorf("%q: %q, want %q", test.args, got, test.want)
		}
	}
}

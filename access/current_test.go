package access_test

import (
	"errors"
	"sync"
	"testing"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/names"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
)

var _ names.Labeled = (*access.Current)(nil)

func directory(t *testing.T, users ...access.UserConfig) access.Directory {
	t.Helper()
	directory, err := access.NewDirectory([]access.OrganizationConfig{{ID: enginetest.Organization, Name: "Example", Users: users}})
	testenv.Must(t, err)
	return directory
}

// TestReplace: a user who is replaced sends nothing more from then on, while requests run.
func TestReplace(t *testing.T) {
	before, after := enginetest.NewAPIKey(t), enginetest.NewAPIKey(t)
	with := func(key *enginetest.APIKey) access.State {
		return access.State{Directory: directory(t, access.UserConfig{ID: "ann", Name: "ann", APIKeys: []access.APIKeyConfig{key.Config()}})}
	}
	current := access.NewCurrent(with(before))
	f := enginetest.New(t, func(c *countersign.Config) {
		c.Directory, c.Descriptors, c.Names = current, current, current
	})
	body := f.Body(enginetest.Request{})
	enginetest.MustSubmit(t, f.Engine, before.Sign(body))
	var running sync.WaitGroup
	for range 4 {
		running.Go(func() {
			for range 20 {
				_, _ = f.Engine.Submit(t.Context(), before.Sign(body))
			}
		})
	}
	current.Replace(with(after))
	_, err := f.Engine.Submit(t.Context(), before.Sign(body))
	enginetest.Refusal(t, err, activity.ReasonSignatureInvalid, "")
	enginetest.MustSubmit(t, f.Engine, after.Sign(body))
	running.Wait()
}

// reader reads every call, and knows one lookup table and one name.
type reader struct{}

func (reader) Read(chains.Call) (chains.Reading, bool) { return chains.Reading{Function: "f"}, true }

func (reader) LookupTable([]byte) (chains.LookupTable, bool) { return chains.LookupTable{}, true }

func (reader) Token(chains.Asset) (string, int, bool) { return "USDC", 6, true }

func (reader) Label(chains.Party) string { return "treasury" }

func (reader) Labeled() [][]byte { return [][]byte{{1}} }

// TestState: each look-up is of the state in force, and a state without a member has nothing.
func TestState(t *testing.T) {
	current := new(access.Current)
	for _, known := range []bool{false, true, false} {
		if known {
			current.Replace(access.State{Descriptors: reader{}, Names: reader{}})
		} else {
			current.Replace(access.State{})
		}
		reading, read := current.Read(chains.Call{})
		_, table := current.LookupTable(nil)
		symbol, _, token := current.Token(chains.Asset{})
		label, labeled := current.Label(chains.Party{}), current.Labeled()
		if read != known || (reading.Function != "") != known || table != known || token != known || (symbol != "") != known || (label != "") != known || (labeled != nil) != known {
			t.Errorf("%v: %v, %v, %v, %q, %q", known, read, table, token, label, labeled)
		}
		if _, err := current.Organization(t.Context(), "x"); !errors.Is(err, access.ErrOrganizationNotFound) {
			t.Error(err)
		}
		if _, err := current.Member(t.Context(), "x", ""); !errors.Is(err, access.ErrCredentialNotFound) {
			t.Error(err)
		}
	}
}

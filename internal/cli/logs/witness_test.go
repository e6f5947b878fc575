package logs_test

import (
	"bytes"
	"crypto/ed25519"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/httpapi"
	"github.com/countersign-dev/countersign/internal/cli/logs"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/trust"
	"github.com/countersign-dev/countersign/translog"
)

// watched is a server whose log a witness follows.
type watched struct {
	*enginetest.Fixture
	url  string
	sent int
}

var watchedSigner = translog.NewSigner(ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize)))

// watchedLog starts a server and carries out a number of activities.
func watchedLog(t *testing.T, activities int) *watched {
	t.Helper()
	w := &watched{Fixture: enginetest.New(t, func(c *countersign.Config) { c.Log, c.LogSigner = true, watchedSigner })}
	server := httptest.NewServer(httpapi.Admin(w.Engine, nil))
	t.Cleanup(server.Close)
	w.url = server.URL
	w.submit(t, activities)
	return w
}

func (w *watched) submit(t *testing.T, activities int) {
	t.Helper()
	for range activities {
		w.sent++
		if _, err := w.Submit(t, enginetest.Request{At: w.Clock.Now().Add(time.Duration(w.sent) * time.Millisecond)}); err != nil {
			t.Fatal(err)
		}
	}
}

// witnessing runs the command on a folder. It must succeed, or fail with refused in its
// output if that is not empty.
func witnessing(t *testing.T, state, refused string, args ...string) string {
	t.Helper()
	args = append([]string{"witness", "--state", state, "--log-key", watchedSigner.VerifierKey(enginetest.Organization)}, args...)
	out, err := exec.CommandContext(t.Context(), "countersign", args...).CombinedOutput()
	if (err != nil) != (refused != "") || !strings.Contains(string(out), refused) {
		t.Errorf("%v: %s; want %q", err, out, refused)
	}
	return string(out)
}

func mustSee(t *testing.T, state, size string) {
	t.Helper()
	if out := witnessing(t, state, "", "--show"); !strings.Contains(out, `"size":`+size+`}`) {
		t.Errorf("%s, want %s", out, size)
	}
}

// TestWitnessFollowsServer checks that a witness follows a running server, and refuses one
// that has lost leaves or has different ones.
func TestWitnessFollowsServer(t *testing.T) {
	t.Parallel()
	w := watchedLog(t, 2)
	state := filepath.Join(t.TempDir(), "kept")
	if out := witnessing(t, state, "", "--url", w.url); strings.Count(out, "\n— ") != 2 {
		t.Errorf("not cosigned: %s", out)
	}
	w.submit(t, 3)
	witnessing(t, state, "", "--url", w.url+"/")
	mustSee(t, state, "5")
	witnessing(t, state, "", "--url", w.url) // nothing new
	witnessing(t, state, "fewer than the 5 of the earlier checkpoint: the newest were cut off", "--url", watchedLog(t, 4).url)
	witnessing(t, state, "does not extend that of 5", "--url", watchedLog(t, 6).url)
	witnessing(t, state, "two checkpoints of 5 leaves have different roots", "--url", watchedLog(t, 5).url)
	mustSee(t, state, "5")
	for path, status := range map[string]int{
		"/log/" + enginetest.Organization + "/checkpoint":         http.StatusOK,
		"/log/" + enginetest.Organization + "/checkpoint?old=-1":  http.StatusBadRequest,
		"/log/" + enginetest.Organization + "/checkpoint?old=two": http.StatusBadRequest,
		"/log/nothing/checkpoint":                                 http.StatusNotFound,
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.url+path, http.NoBody)
		testenv.Must(t, err)
		response, err := http.DefaultClient.Do(request)
		testenv.Must(t, err)
		if _ = response.Body.Close(); response.StatusCode != status {
			t.Errorf("%s: %s, want %d", path, response.Status, status)
		}
	}
}

// TestWitnessState checks that the update of a killed witness is finished by the next call,
// that an earlier state put back is detected, and that two never use one folder.
func TestWitnessState(t *testing.T) {
	testenv.Slow(t)
	w := watchedLog(t, 2)
	state := filepath.Join(t.TempDir(), "kept")
	witnessing(t, state, "", "--url", w.url)
	first := filesOf(t, state)
	w.submit(t, 1)
	witnessing(t, state, "", "--url", w.url)
	second := filesOf(t, state)
	const noticed = "an earlier state was put back"
	for name, tried := range map[string]struct {
		checkpoint, next, history string // contents; empty if the file is missing
		refused, size             string
	}{
		"killed before the history":      {first.checkpoint, second.checkpoint, first.history, "", "2"},
		"killed in the next checkpoint":  {first.checkpoint, second.checkpoint[:20], first.history, "", "2"},
		"killed in the history":          {first.checkpoint, second.checkpoint, second.history[:len(second.history)-4], "", "2"},
		"killed after the history":       {first.checkpoint, second.checkpoint, second.history, "", "3"},
		"killed in the first call":       {"", first.checkpoint, "", "", "0"},
		"the checkpoint is an old one":   {first.checkpoint, "", second.history, noticed, ""},
		"the next one is not the newest": {first.checkpoint, first.checkpoint, second.history, noticed, ""},
		"the checkpoint is gone":         {"", "", second.history, noticed, ""},
		"the history is gone":            {second.checkpoint, "", "", noticed, ""},
		"the history is an old one":      {second.checkpoint, "", first.history, noticed, ""},
	} {
		t.Run(name, func(t *testing.T) {
			writeState(t, state, ".checkpoint", tried.checkpoint)
			writeState(t, state, ".checkpoint.next", tried.next)
			writeState(t, state, ".history", tried.history)
			if tried.refused != "" {
				witnessing(t, state, tried.refused, "--show")
				witnessing(t, state, tried.refused, "--url", w.url)
				return
			}
			mustSee(t, state, tried.size)
			witnessing(t, state, "", "--url", w.url)
			mustSee(t, state, "3")
		})
	}
	lock, err := os.OpenFile(filepath.Join(state, "lock"), os.O_RDWR, 0)
	testenv.Must(t, err)
	defer func() { _ = lock.Close() }()
	if held, err := trust.TryLock(lock); err != nil || !held {
		t.Fatal(err)
	}
	witnessing(t, state, "in use by another witness", "--show")
}

type stateFiles struct{ checkpoint, history string }

func filesOf(t *testing.T, state string) stateFiles {
	t.Helper()
	return stateFiles{readState(t, state, ".checkpoint"), readState(t, state, ".history")}
}

// stateFile returns the path of a file of the log in a folder.
func stateFile(t *testing.T, state, suffix string) string {
	t.Helper()
	s, err := logs.OpenWitnessState(t.Context(), state, watchedSigner.VerifierKey(enginetest.Organization))
	testenv.Must(t, err)
	defer s.Close()
	return s.Path + suffix
}

func readState(t *testing.T, state, suffix string) string {
	t.Helper()
	content := testenv.Read(t, stateFile(t, state, suffix))
	return string(content)
}

func writeState(t *testing.T, state, suffix, content string) {
	t.Helper()
	path := stateFile(t, state, suffix)
	testenv.Must(t, os.RemoveAll(path))
	if content == "" {
		return
	}
	testenv.Write(t, path, []byte(content))
}

package httpapi

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/translog"
)

// checkpoint answers GET /log/{organization}/checkpoint with the signed checkpoint of the
// log (C2SP tlog-checkpoint). With ?old=SIZE the answer is for a witness that has seen SIZE
// leaves, and proves that the log extends them. The status is 404 if there is no such log
// or no key for it, and 409 if the log has fewer leaves.
func checkpoint(engine *countersign.Engine) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		query := r.URL.Query()
		old, err := int64(0), error(nil)
		if query.Has("old") {
			old, err = strconv.ParseInt(query.Get("old"), 10, 64)
		}
		if err != nil || old < 0 {
			http.Error(w, "old: expected a number of leaves", http.StatusBadRequest)
			return
		}
		advance, err := engine.Log().Advance(r.Context(), r.PathValue("organization"), old)
		if err != nil {
			logRefused(w, err)
			return
		}
		answer := advance.Checkpoint
		if query.Has("old") {
			answer = advance.Encode()
		}
		writeNote(w, answer)
	}
}

// proof answers GET /log/{organization}/proof/{id} with the proof that an activity is in the
// log (C2SP tlog-proof). The status is 404 if it is not, or if there is no such log or no
// key for it.
func proof(engine *countersign.Engine) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		proof, err := engine.Log().Proof(r.Context(), r.PathValue("organization"), r.PathValue("id"))
		if err != nil {
			logRefused(w, err)
			return
		}
		writeNote(w, proof.Encode())
	}
}

func logRefused(w http.ResponseWriter, err error) {
	refused, _ := errors.AsType[*activity.Error](err)
	switch {
	case errors.Is(err, translog.ErrShorter):
		http.Error(w, err.Error(), http.StatusConflict)
	case refused != nil && refused.Reason == activity.ReasonNotFound:
		http.Error(w, refused.Message, http.StatusNotFound)
	default:
		http.Error(w, "the log cannot be read at present", http.StatusServiceUnavailable)
	}
}

func writeNote(w http.ResponseWriter, note []byte) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(note) // a client that is gone does not need it
}

package activity

import "strconv"

// LogProof proves that an activity is in the log of its organization. Proof, a newline
// and Checkpoint together are a C2SP tlog-proof, which package translog verifies.
type LogProof struct {
	Index      int64  `json:"index"`      // of the leaf
	Checkpoint string `json:"checkpoint"` // signed note, of the log whose last leaf this is
	Proof      string `json:"proof"`      // the lines of the proof and the leaf, each with its newline
}

func (a *answer) log() {
	if a.Log == nil {
		return
	}
	a.buf = append(appendMember(a.buf, "log"), '{')
	a.buf = appendRawMember(a.buf, "index", strconv.FormatInt(a.Log.Index, 10))
	a.buf = appendTextMember(a.buf, "checkpoint", a.Log.Checkpoint)
	a.buf = appendTextMember(a.buf, "proof", a.Log.Proof)
	a.buf = append(a.buf, '}')
}

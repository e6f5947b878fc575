package activity

import (
	"io"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/countersign-dev/countersign/internal/strictjson"
)

// AppendAnswer appends the answer to the request, {"activity":…}, in both shapes that clients read:
// with the record's members on the activity and its result directly in "result"; and with the
// record again in "result.activity", where times are strings, as in the API's documentation.
func (r *Record) AppendAnswer(dst []byte) []byte {
	a := answer{Record: r, buf: dst}
	a.write()
	return a.buf
}

// Answer returns the answer and its length in bytes. It returns a nil answer if that is
// longer than 16 KiB: use WriteAnswer then.
func (r *Record) Answer() (whole []byte, size int) {
	return measured(func(a *answer) { a.Record = r; a.write() })
}

// WriteAnswer writes the answer in pieces of about 16 KiB. The answer contains the body
// four times, which are never all in memory.
func (r *Record) WriteAnswer(w io.Writer) error {
	return written(w, func(a *answer) { a.Record = r; a.write() })
}

// Activities is a page of records, the answer to list_activities.
type Activities []*Record

// Answer returns {"activities":[…]} and its length in bytes. It returns a nil answer if
// that is longer than 16 KiB: use WriteAnswer then.
func (l Activities) Answer() (whole []byte, size int) {
	return measured(func(a *answer) { a.list(l) })
}

// WriteAnswer writes {"activities":[…]} in pieces.
func (l Activities) WriteAnswer(w io.Writer) error {
	return written(w, func(a *answer) { a.list(l) })
}

func (a *answer) list(records []*Record) {
	a.buf = append(a.buf, `{"activities":[`...)
	for i, record := range records {
		if i > 0 {
			a.buf = append(a.buf, ',')
		}
		a.Record = record
		a.activity()
		a.overflow()
	}
	a.buf = append(a.buf, "]}"...)
}

// measured builds an answer and returns its length, and the answer if it is no longer than a piece.
func measured(build func(*answer)) (whole []byte, size int) {
	var count counter
	a := answer{w: &count, buf: make([]byte, 0, usualAnswer)}
	build(&a)
	if count == 0 {
		return a.buf, len(a.buf)
	}
	return nil, int(count) + len(a.buf)
}

// written builds an answer and writes it in pieces.
func written(w io.Writer, build func(*answer)) error {
	a := answer{w: w, buf: make([]byte, 0, 2*answerPiece)}
	build(&a)
	a.flush()
	return a.err
}

// counter counts the bytes written to it.
type counter int

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

// Sizes in bytes.
const (
	answerPiece = 16 << 10 // buffered before it is written
	usualAnswer = 6 << 10  // room for a transaction of usual size
)

type answer struct {
	*Record
	w   io.Writer // if nil, everything stays in buf
	buf []byte
	err error
}

// flush writes the buffered bytes.
func (a *answer) flush() {
	if a.w == nil || a.err != nil {
		return
	}
	_, a.err = a.w.Write(a.buf)
	a.buf = a.buf[:0]
}

// longText appends a JSON string, and flushes as often as needed.
func longText[text string | []byte](a *answer, value text) {
	a.buf = append(a.buf, '"')
	for len(value) > 0 {
		chunk := value[:min(len(value), answerPiece)]
		for len(chunk) > 1 && len(chunk) < len(value) && !utf8.RuneStart(value[len(chunk)]) {
			chunk = chunk[:len(chunk)-1]
		}
		a.buf = appendEscaped(a.buf, chunk)
		value = value[len(chunk):]
		a.overflow()
	}
	a.buf = append(a.buf, '"')
}

// raw appends JSON, and flushes as often as needed.
func (a *answer) raw(value []byte) {
	for len(value) > 0 {
		n := min(len(value), answerPiece)
		a.buf = append(a.buf, value[:n]...)
		value = value[n:]
		a.overflow()
	}
}

func (a *answer) overflow() {
	if len(a.buf) >= answerPiece {
		a.flush()
	}
}

func (a *answer) write() {
	a.buf = append(a.buf, `{"activity":`...)
	a.activity()
	a.buf = append(a.buf, '}')
}

// activity appends the activity itself.
func (a *answer) activity() {
	a.buf = append(a.buf, '{')
	a.head()
	a.buf = append(a.buf, `,"result":{`...)
	a.result()
	if a.Result != nil {
		a.buf = append(a.buf, ',')
	}
	a.buf = append(a.buf, `"activity":{`...)
	a.head()
	a.buf = append(a.buf, `,"result":{`...)
	a.result()
	a.buf = append(a.buf, '}')
	a.tail(appendRFC3339)
	a.buf = append(a.buf, `}}`...)
	a.tail(appendTimestamp)
	a.buf = append(a.buf, `,"timestampMs":"`...)
	a.buf = strconv.AppendInt(a.buf, a.Request.TimestampMs, 10)
	a.buf = append(a.buf, '"')
	a.buf = appendElements(appendMember(a.buf, "appProofs"), a.AppProofs, (*AppProof).appendJSON)
	if a.Log != nil {
		a.marshaled("log", a.Log)
	}
	if a.buf = appendMember(a.buf, "failure"); a.Failure == nil {
		a.buf = append(a.buf, "null"...)
	} else {
		a.buf = appendRawMember(append(a.buf, '{'), "code", strconv.Itoa(int(a.Failure.Code)))
		a.buf = appendTextMember(a.buf, "message", a.Failure.Message)
		a.buf = append(a.buf, `,"details":[]}`...)
	}
	if a.Viewer.Review != nil { // what voters are shown
		a.marshaled("review", a.Viewer.Review)
	}
	if a.Did != nil { // what was signed
		a.marshaled("did", a.Did)
	}
	a.buf = append(a.buf, '}')
}

// marshaled appends a member as encoding/json writes it. Its texts can be as long as a transaction.
func (a *answer) marshaled(name string, value any) {
	form, err := strictjson.Marshal(value)
	if err != nil {
		panic("activity: encoding " + name + ": " + err.Error())
	}
	a.buf = appendMember(a.buf, name)
	a.raw(form)
}

// head appends the members from id to intent.
func (a *answer) head() {
	a.buf = appendTextMembers(a.buf, "id", a.ID, "organizationId", a.Request.OrganizationID, "status", string(a.Status),
		"type", string(a.Request.Type))
	a.buf = append(appendMember(a.buf, "intent"), '{')
	a.buf = appendMember(a.buf, a.operation().intent)
	a.raw(a.Request.Parameters())
	a.buf = append(a.buf, '}')
}

// result appends the members of the result, if there is one.
func (a *answer) result() {
	if a.Result == nil {
		return
	}
	a.buf = appendMember(a.buf, a.operation().result)
	if signed, ok := a.Result.(SignTransactionResult); ok {
		a.buf = append(a.buf, `{"signedTransaction":`...)
		longText(a, signed.SignedTransaction)
		a.buf = append(a.buf, '}')
		return
	}
	a.buf = AppendResult(a.buf, a.Result)
}

// AppendResult appends the compact JSON of a result, with members in the order of its type.
func AppendResult(dst []byte, result Result) []byte {
	if signed, ok := result.(SignTransactionResult); ok {
		return append(appendTextMember(append(dst, '{'), "signedTransaction", signed.SignedTransaction), '}')
	}
	return appendMarshaled(dst, result)
}

// tail appends the members from votes to updatedAt.
func (a *answer) tail(form timeForm) {
	a.buf = append(a.buf, `,"votes":[`...)
	for i := range a.Votes {
		if i > 0 {
			a.buf = append(a.buf, ',')
		}
		a.vote(&a.Votes[i], form)
	}
	a.buf = append(a.buf, `],"fingerprint":`...)
	a.buf = appendText(a.buf, a.Request.Fingerprint.String())
	a.buf = strconv.AppendBool(append(a.buf, `,"canApprove":`...), a.Viewer.CanApprove)
	a.buf = strconv.AppendBool(append(a.buf, `,"canReject":`...), a.Viewer.CanReject)
	a.buf = form(append(a.buf, `,"createdAt":`...), a.CreatedAt)
	a.buf = form(append(a.buf, `,"updatedAt":`...), a.UpdatedAt)
}

func (a *answer) vote(vote *Vote, form timeForm) {
	a.buf = append(a.buf, '{')
	a.buf = appendTextMembers(a.buf, "id", vote.ID, "userId", vote.UserID)
	a.buf = append(appendMember(a.buf, "user"), '{')
	a.buf = appendTextMembers(a.buf, "userId", vote.UserID, "userName", vote.UserName)
	for _, list := range [...]string{"authenticators", "apiKeys", "userTags", "oauthProviders", "mfaPolicies"} {
		a.buf = appendRawMember(a.buf, list, "[]")
	}
	since := vote.UserSince
	if since.IsZero() {
		since = time.Unix(0, 0)
	}
	a.buf = form(appendMember(a.buf, "createdAt"), since)
	a.buf = append(form(appendMember(a.buf, "updatedAt"), since), '}')
	a.buf = appendTextMembers(a.buf, "activityId", a.ID, "selection", string(vote.Selection))
	a.buf = appendMember(a.buf, "message")
	message := []byte(vote.Message)
	if vote.Message == "" {
		message = a.Request.Body
	}
	longText(a, message)
	a.buf = append(a.buf, `,"publicKey":`...)
	a.buf = appendText(a.buf, vote.PublicKey)
	a.buf = appendTextMembers(a.buf, "signature", vote.Signature, "scheme", vote.Scheme)
	a.buf = form(appendMember(a.buf, "createdAt"), vote.CreatedAt)
	a.buf = append(a.buf, '}')
}

func (r *Record) operation() *Operation {
	operation, err := operationOf(r.Request.Type)
	if err != nil {
		panic("activity: a record of a type that Decode refuses")
	}
	return operation
}

package activity

import (
	"encoding/json"
	"slices"
	"time"
)

// EventType names what an event tells.
type EventType string

// The events. The first four are about an activity, and are recorded with it.
const (
	EventWaiting     EventType = "activity.waiting"   // it waits for votes
	EventCompleted   EventType = "activity.completed" // it was carried out
	EventRejected    EventType = "activity.rejected"  // by a vote, or because its votes did not come in time
	EventFailed      EventType = "activity.failed"    // it has its votes and can never be carried out
	EventRefused     EventType = "request.refused"    // requests of a user that were refused within a minute
	EventReloaded    EventType = "server.reloaded"    // the configuration was read again
	EventLogConflict EventType = "log.conflict"       // an organization takes no requests: its log is behind what was seen
)

// EventTypes returns all types of events.
func EventTypes() []EventType {
	return []EventType{EventWaiting, EventCompleted, EventRejected, EventFailed, EventRefused, EventReloaded,
		EventLogConflict}
}

// Event is what a receiver of events is told. It has no secrets, no contacts and no stamps:
// anyone who can read a chat may read it.
type Event struct {
	Type      EventType `json:"type"`
	Timestamp time.Time `json:"timestamp"`
	Data      EventData `json:"data"`
}

// EventData says what an event is about.
type EventData struct {
	OrganizationID string   `json:"organizationId,omitempty"`
	ActivityID     string   `json:"activityId,omitempty"`
	ActivityType   Type     `json:"activityType,omitempty"`
	Fingerprint    string   `json:"fingerprint,omitempty"` // what a vote names
	Status         Status   `json:"status,omitempty"`
	UserID         string   `json:"userId,omitempty"` // who submitted it
	UserName       string   `json:"userName,omitempty"`
	Sentences      []string `json:"sentences,omitempty"` // what it does
	Rules          []string `json:"rules,omitempty"`     // of the policy; of a refusal, the one that refused
	MissingVotes   int      `json:"missingVotes,omitempty"`
	Reason         string   `json:"reason,omitempty"` // why requests were refused
	Count          int      `json:"count,omitempty"`  // of the requests that were refused, or of further reloads in the same minute
	Code           Code     `json:"code,omitempty"`   // why an activity failed
}

// Bounds of the sentences of an event: a batch can do a thousand things.
const (
	maxEventSentences = 20
	maxEventSentence  = 300
)

// EventOf returns the event of a record that was just written. sentences say what it does, and
// missing is how many votes it still needs.
func EventOf(record *Record, sentences []string, missing int) Event {
	submitter := record.Submitter()
	if halt, ok := record.Result.(HaltResult); ok {
		sentences, missing = []string{halt.Sentence()}, halt.Missing
	}
	event := Event{Type: eventsOf[record.Status], Timestamp: record.UpdatedAt.UTC(), Data: EventData{
		OrganizationID: record.Request.OrganizationID, ActivityID: record.ID, ActivityType: record.Request.Type,
		Fingerprint: record.Request.Fingerprint.String(), Status: record.Status,
		UserID: submitter.UserID, UserName: submitter.UserName, Rules: record.Decision.Rules, MissingVotes: missing,
	}}
	if record.Failure != nil {
		event.Data.Code = record.Failure.Code
	}
	event.Data.Sentences = slices.Clone(sentences[:min(len(sentences), maxEventSentences)])
	for i, sentence := range event.Data.Sentences {
		if runes := []rune(sentence); len(runes) > maxEventSentence {
			event.Data.Sentences[i] = string(runes[:maxEventSentence]) + "…"
		}
	}
	return event
}

var eventsOf = map[Status]EventType{StatusConsensusNeeded: EventWaiting, StatusCompleted: EventCompleted,
	StatusRejected: EventRejected, StatusFailed: EventFailed}

// Encode returns the event as JSON.
func (e *Event) Encode() ([]byte, error) { return json.Marshal(e) }

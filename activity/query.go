package activity

import (
	"slices"
	"strconv"
	"time"

	"github.com/countersign-dev/countersign/internal/strictjson"
)

// Query has the members of all queries, and is the body of whoami and list_policies. A
// query with a time is live as long as a request is. One without, which the API allows, can
// be replayed while its credential is valid.
type Query struct {
	OrganizationID string
	Time           time.Time // timestampMs; zero: none
}

func (q *Query) read(body []byte, fields ...strictjson.Field) error {
	var timestamp string
	fields = append(fields, required("organizationId", &q.OrganizationID), optional("timestampMs", &timestamp))
	if err := strictjson.Read(body, "body", fields...); err != nil {
		return refuseJSON(err)
	}
	if timestamp != "" {
		milliseconds, err := parseTimestamp(timestamp)
		if err != nil {
			return err
		}
		q.Time = time.UnixMilli(milliseconds)
	}
	return checkOrganizationID(q.OrganizationID)
}

// GetActivityQuery is the body of get_activity.
type GetActivityQuery struct {
	Query
	ActivityID string
}

// WhoAmI is the answer to whoami.
type WhoAmI struct {
	OrganizationID   string `json:"organizationId"`
	OrganizationName string `json:"organizationName"`
	UserID           string `json:"userId"`
	Username         string `json:"username"`
}

// DecodeQuery parses the body of a whoami or list_policies query strictly. Its error is an
// [*Error].
func DecodeQuery(body []byte) (query Query, err error) {
	return query, query.read(body)
}

// DecodeGetActivity parses the body of a get_activity query strictly. Its error is an [*Error].
func DecodeGetActivity(body []byte) (query GetActivityQuery, err error) {
	return query, query.read(body, required("activityId", &query.ActivityID))
}

// Bounds of the pages of list_activities.
const (
	DefaultPage = 10
	MaxPage     = 100
)

// ListActivitiesQuery is the body of list_activities, which lists activities newest first.
type ListActivitiesQuery struct {
	Query
	Statuses []Status // empty: all
	Types    []Type   // empty: all
	Limit    int      // 1 to MaxPage
	Before   string   // id; only older activities
	After    string   // id; only newer activities
}

// DecodeListActivities parses the body of a list_activities query strictly. Its error is
// an [*Error].
func DecodeListActivities(body []byte) (query ListActivitiesQuery, err error) {
	var names, types []string
	var limit string
	pages := func(reader *strictjson.Reader) error {
		return reader.Object(optional("limit", &limit), optional("before", &query.Before),
			optional("after", &query.After))
	}
	err = query.read(body,
		strictjson.Optional("filterByStatus", &names).AtMost(boundOf("filterByStatus")),
		strictjson.Optional("filterByType", &types).AtMost(boundOf("filterByType")),
		strictjson.Optional("paginationOptions", pages),
	)
	if err != nil {
		return query, err
	}
	for _, status := range names {
		if !slices.Contains(statuses, Status(status)) {
			return query, NewError(ReasonRequestInvalid, "filterByStatus", nil,
				"filterByStatus: status %s is not known", quoted(status))
		}
		query.Statuses = append(query.Statuses, Status(status))
	}
	for _, kind := range types {
		query.Types = append(query.Types, Type(kind))
	}
	query.Limit, err = parsePage(limit)
	return query, err
}

// statuses are the statuses of the API. The last three never occur here.
var statuses = []Status{
	StatusCompleted, StatusConsensusNeeded, StatusRejected, StatusFailed,
	"ACTIVITY_STATUS_CREATED", "ACTIVITY_STATUS_PENDING", "ACTIVITY_STATUS_AUTHENTICATORS_NEEDED",
}

func parsePage(text string) (int, error) {
	if text == "" {
		return DefaultPage, nil
	}
	limit, err := strconv.Atoi(text)
	if err != nil || limit < 1 || limit > MaxPage || strconv.Itoa(limit) != text {
		return 0, NewError(ReasonRequestInvalid, "limit", nil, "limit %s: expected 1 to %d, as a string",
			quoted(text), MaxPage)
	}
	return limit, nil
}

// PolicyRule is a rule of a policy as list_policies returns it.
type PolicyRule struct {
	ID        string // stable as long as the name is
	Name      string
	Allow     bool   // if false, the rule denies
	Condition string // expression; empty: always
	Consensus string // describes the approvals that it needs; empty: none
	Notes     string // describes what it is about
}

// AppendPolicies appends the answer to list_policies, {"policies":[…]}. Rules of a file
// have no times, so createdAt and updatedAt are the epoch.
func AppendPolicies(dst []byte, rules []PolicyRule) []byte {
	return append(appendElements(append(dst, `{"policies":`...), rules, (*PolicyRule).appendJSON), '}')
}

func (r *PolicyRule) appendJSON(dst []byte) []byte {
	effect := "EFFECT_DENY"
	if r.Allow {
		effect = "EFFECT_ALLOW"
	}
	dst = appendTextMembers(append(dst, '{'), "policyId", r.ID, "policyName", r.Name, "effect", effect,
		"condition", r.Condition, "consensus", r.Consensus, "notes", r.Notes)
	const epoch = `{"seconds":"0","nanos":"0"}`
	return append(appendRawMember(appendRawMember(dst, "createdAt", epoch), "updatedAt", epoch), '}')
}

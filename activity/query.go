package activity

import "github.com/countersign-dev/countersign/internal/strictjson"

// GetActivityQuery asks for a recorded activity: the body of get_activity.
type GetActivityQuery struct {
	OrganizationID string
	ActivityID     string
}

// WhoAmIQuery asks who the stamp belongs to: the body of whoami.
type WhoAmIQuery struct {
	OrganizationID string
}

// WhoAmI is the answer to it.
type WhoAmI struct {
	OrganizationID   string `json:"organizationId"`
	OrganizationName string `json:"organizationName"`
	UserID           string `json:"userId"`
	Username         string `json:"username"`
}

// DecodeGetActivity reads the body of a get_activity query strictly. Its error
// is an *Error.
func DecodeGetActivity(body []byte) (query GetActivityQuery, err error) {
	err = strictjson.Read(body, "body",
		required("organizationId", &query.OrganizationID),
		required("activityId", &query.ActivityID),
	)
	if err != nil {
		return query, refuseJSON(err)
	}
	return query, checkOrganizationID(query.OrganizationID)
}

// DecodeWhoAmI reads the body of a whoami query strictly. Its error is an
// *Error.
func DecodeWhoAmI(body []byte) (query WhoAmIQuery, err error) {
	err = strictjson.Read(body, "body",
		required("organizationId", &query.OrganizationID),
	)
	if err != nil {
		return query, refuseJSON(err)
	}
	return query, checkOrganizationID(query.OrganizationID)
}

package docs_test

import (
	"context"
	"database/sql"
	"errors"
	"testing"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/stamp"
)

// database is your database. Its methods return a row, or sql.ErrNoRows.
type database interface {
	Organization(ctx context.Context, id string) (name string, err error)
	APIKey(ctx context.Context, organizationID, credentialID string) (APIKeyRow, error)
}

// APIKeyRow is a registered API key. CredentialID, the key of the row, is
// stamp.APIKeyID of the public key.
type APIKeyRow struct {
	CredentialID, Curve, UserID, UserName string
	PublicKey                             []byte
	ExpiresAt                             time.Time
}

// directory implements access.Directory with a database.
type directory struct{ database database }

func (d directory) Organization(ctx context.Context, organizationID string) (*access.Organization, error) {
	name, err := d.database.Organization(ctx, organizationID)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, access.ErrOrganizationNotFound
	}
	if err != nil {
		return nil, err
	}
	return &access.Organization{ID: organizationID, Name: name}, nil
}

func (d directory) Member(ctx context.Context, organizationID string, id stamp.ID) (*access.Member, error) {
	row, err := d.database.APIKey(ctx, organizationID, string(id))
	if errors.Is(err, sql.ErrNoRows) {
		return nil, access.ErrCredentialNotFound
	}
	if err != nil {
		return nil, err
	}
	credential, err := stamp.NewAPIKey(stamp.Curve(row.Curve), row.PublicKey)
	if err != nil {
		return nil, err
	}
	credential.ExpiresAt = row.ExpiresAt
	return &access.Member{User: access.User{ID: row.UserID, Name: row.UserName}, Credential: credential}, nil
}

// TestDirectory submits a request with a registered key, with an unknown one, and with
// an expired one.
func TestDirectory(t *testing.T) {
	rows := table{}
	f := enginetest.New(t, func(c *countersign.Config) { c.Directory = directory{rows} })
	if _, err := f.Submit(t, enginetest.Request{}); err == nil {
		t.Error("an unknown key is taken")
	}
	public := testenv.Hex(t, f.APIKey.PublicKey)
	id := string(stamp.APIKeyID(public))
	row := APIKeyRow{CredentialID: id, Curve: string(stamp.CurveP256), UserID: "user-1", UserName: "ci", PublicKey: public}
	rows[id] = row
	if _, err := f.Submit(t, enginetest.Request{}); err != nil {
		t.Error(err)
	}
	row.ExpiresAt = f.Clock.Now()
	rows[id] = row
	if _, err := f.Submit(t, enginetest.Request{}); err == nil {
		t.Error("an expired key is taken")
	}
}

// table is a database with one organization.
type table map[string]APIKeyRow

func (t table) Organization(_ context.Context, id string) (string, error) {
	if id != enginetest.Organization {
		return "", sql.ErrNoRows
	}
	return "Example", nil
}

func (t table) APIKey(_ context.Context, organizationID, credentialID string) (APIKeyRow, error) {
	row, ok := t[credentialID]
	if !ok || organizationID != enginetest.Organization {
		return APIKeyRow{}, sql.ErrNoRows
	}
	return row, nil
}

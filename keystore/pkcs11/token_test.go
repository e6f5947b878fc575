//go:build cgo

package pkcs11_test

import (
	"testing"

	miekg "github.com/miekg/pkcs11"

	"github.com/countersign-dev/countersign/internal/testenv"
)

// bare accesses the token without this package. It is opened after a Store, shares its login
// and must not outlive it.
type bare struct {
	*miekg.Ctx
	session miekg.SessionHandle
}

func openBare(t testing.TB, token testenv.Token) bare {
	t.Helper()
	module := miekg.New(token.Module)
	if err := module.Initialize(); err != miekg.Error(miekg.CKR_CRYPTOKI_ALREADY_INITIALIZED) {
		t.Fatalf("the module is not open: %v", err)
	}
	slots, err := module.GetSlotList(true)
	testenv.Must(t, err)
	for _, slot := range slots {
		if info, err := module.GetTokenInfo(slot); err == nil && info.Label == token.Label {
			session, err := module.OpenSession(slot, miekg.CKF_SERIAL_SESSION|miekg.CKF_RW_SESSION)
			testenv.Must(t, err)
			return bare{module, session}
		}
	}
	t.Fatalf("no token %q", token.Label)
	return bare{}
}

// find returns the objects of a class with a label, or with any label if it is empty.
func (b bare) find(t testing.TB, class uint, label string) []miekg.ObjectHandle {
	t.Helper()
	template := []*miekg.Attribute{miekg.NewAttribute(miekg.CKA_CLASS, class)}
	if label != "" {
		template = append(template, miekg.NewAttribute(miekg.CKA_LABEL, label))
	}
	testenv.Must(t, b.FindObjectsInit(b.session, template))
	found, _, err := b.FindObjects(b.session, 100)
	testenv.Must(t, err)
	testenv.Must(t, b.FindObjectsFinal(b.session))
	return found
}

func (b bare) one(t testing.TB, class uint, label string) miekg.ObjectHandle {
	t.Helper()
	found := b.find(t, class, label)
	if len(found) != 1 {
		t.Fatalf("%d objects %q of class %d, want one", len(found), label, class)
	}
	return found[0]
}

func (b bare) attribute(t testing.TB, object miekg.ObjectHandle, kind uint) []byte {
	t.Helper()
	values, err := b.GetAttributeValue(b.session, object, []*miekg.Attribute{miekg.NewAttribute(kind, nil)})
	testenv.Must(t, err)
	return values[0].Value
}

func (b bare) set(t testing.TB, object miekg.ObjectHandle, kind uint, value any) {
	t.Helper()
	testenv.Must(t, b.SetAttributeValue(b.session, object, []*miekg.Attribute{miekg.NewAttribute(kind, value)}))
}

func (b bare) destroy(t testing.TB, object miekg.ObjectHandle) {
	t.Helper()
	testenv.Must(t, b.DestroyObject(b.session, object))
}

// createPublic creates a public object on the token, which takes no PIN.
func (b bare) createPublic(t testing.TB, label string, id, params, point []byte) {
	t.Helper()
	_, err := b.CreateObject(b.session, []*miekg.Attribute{
		miekg.NewAttribute(miekg.CKA_CLASS, miekg.CKO_PUBLIC_KEY),
		miekg.NewAttribute(miekg.CKA_KEY_TYPE, miekg.CKK_EC),
		miekg.NewAttribute(miekg.CKA_TOKEN, true),
		miekg.NewAttribute(miekg.CKA_PRIVATE, false),
		miekg.NewAttribute(miekg.CKA_ID, id),
		miekg.NewAttribute(miekg.CKA_LABEL, label),
		miekg.NewAttribute(miekg.CKA_EC_PARAMS, params),
		miekg.NewAttribute(miekg.CKA_EC_POINT, point),
	})
	testenv.Must(t, err)
}

//go:build cgo

package pkcs11_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/pkcs11"
)

// A PIN in a URI is refused before anything is opened.
func ExampleOpen() {
	const uri = "pkcs11:token=prod?module-path=/usr/lib/softhsm/libsofthsm2.so"
	_, err := pkcs11.Open(context.Background(), uri+"&pin-value=1234", pkcs11.Options{})
	fmt.Println(err)

	// errors.Is shows whether the token is only temporarily unavailable.
	_, err = pkcs11.Open(context.Background(), uri+"&pin-source=file:/nowhere", pkcs11.Options{})
	fmt.Println(err, errors.Is(err, keystore.ErrUnavailable))
	// Output:
	// pkcs11 uri: byte 62: pin-value: a PIN does not belong in a URI, where others can read it: put it into a file and write pin-source=file:/PATH
	// pkcs11: PIN file /nowhere: no such file or directory false
}

package activity_test

import (
	"errors"
	"fmt"
	"log"

	"github.com/countersign-dev/countersign/activity"
)

// A body is parsed once. Verifying the stamp and carrying out the intent both use the
// parsed request.
func ExampleDecode() {
	request, err := activity.Decode([]byte(`{"type":"ACTIVITY_TYPE_SIGN_TRANSACTION_V2","timestampMs":"1763650000000","organizationId":"my-organization",
		"parameters":{"signWith":"0x97cC56300C36F60C7Fb7C50BaBc6c5cDF59D5c56","unsignedTransaction":"02ec01","type":"TRANSACTION_TYPE_ETHEREUM"}}`))
	if err != nil {
		log.Fatal(err)
	}
	switch intent := request.Intent.(type) {
	case activity.SignTransactionIntent:
		fmt.Println(request.OrganizationID, intent.Type, intent.SignWith)
	}
	// Output: my-organization TRANSACTION_TYPE_ETHEREUM 0x97cC56300C36F60C7Fb7C50BaBc6c5cDF59D5c56
}

// A refusal has a code and a stable reason, and names the member.
func ExampleDecode_refused() {
	_, err := activity.Decode([]byte(`{"type":"ACTIVITY_TYPE_SIGN_TRANSACTION_V2","timestampMs":1763650000000}`))
	if refused, ok := errors.AsType[*activity.Error](err); ok {
		fmt.Println(refused.Code, refused.Reason, refused.Field)
	}
	// Output: 3 REQUEST_INVALID timestampMs
}

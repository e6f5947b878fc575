package operation_test

import (
	"fmt"
	"time"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/ethereum"
	"github.com/countersign-dev/countersign/messages"
	"github.com/countersign-dev/countersign/operation"
)

// An operation can be narrowed before it is passed to an engine in Config.Operations: this engine
// signs typed data and no other message.
func ExampleOperation() {
	operations := messages.Operations(ethereum.Chain{})
	for i := range operations {
		signing := *operations[i].Sign
		read := signing.Read
		signing.Read = func(intent activity.Intent, now func() time.Time) (chains.Transaction, error) {
			if one, ok := intent.(activity.SignRawPayloadIntent); !ok || one.Encoding != activity.EncodingEIP712 {
				return nil, activity.NewError(activity.ReasonRequestInvalid, "encoding", nil,
					"encoding: this server signs typed data, one at a time: use %s", activity.EncodingEIP712)
			}
			return read(intent, now)
		}
		operations[i] = operation.Operation{Type: operations[i].Type, Hazards: operations[i].Hazards, Sign: &signing}
	}
	text := activity.SignRawPayloadIntent{Payload: "hello", Encoding: activity.EncodingText, HashFunction: activity.HashKeccak256}
	_, err := operations[0].Sign.Read(text, time.Now)
	fmt.Println(err)
	// Output: encoding: this server signs typed data, one at a time: use PAYLOAD_ENCODING_EIP712
}

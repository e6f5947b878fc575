// Package client submits stamped requests to a server of Countersign, or to any
// other that speaks the same API.
//
//	key, err := client.ReadKey("api-key.json")
//	to, err := client.New(client.Config{URL: "http://127.0.0.1:8080", Key: key})
//	signed, err := to.SignTransaction(ctx, activity.SignTransactionIntent{…})
//
// A request is written, stamped and sent as one body. If the answer is lost, or
// the server is unavailable, the same body is sent again: it is carried out once,
// however often it arrives. A request that waits for approvals is polled for with
// [Client.Wait].
package client

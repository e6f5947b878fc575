// Package client submits stamped requests to a Countersign server, or to any other server
// with the same API.
//
//	key, err := client.ReadKey("api-key.json")
//	to, err := client.New(client.Config{URL: "http://127.0.0.1:8080", Key: key})
//	signed, err := to.SignTransaction(ctx, activity.SignTransactionIntent{…})
//
// A request is written, stamped and sent as one body. If the answer is lost or the server
// is unavailable, the client sends the same body again: the server carries it out once,
// however often it arrives. [Client.Wait] polls for a request that waits for approvals.
package client

package storetest

import (
	"fmt"
	"testing"

	"github.com/countersign-dev/countersign/store"
)

func runLists(t *testing.T, h Harness) {
	if open(t, h).Lister == nil {
		return
	}
	t.Run("a page of long records ends early", func(t *testing.T) { longPages(open(t, h)) })
}

// longPages checks that a page is bounded by the bytes of its records, that it has at
// least one, and that all are found in either direction.
func longPages(b *bench) {
	sizes := []int{store.MaxListBytes / 2, 3 * store.MaxListBytes, 1, store.MaxListBytes / 2, store.MaxListBytes / 2, 10}
	var all []string
	for i, size := range sizes {
		one := b.activity(fmt.Sprint("long ", i))
		one.Data = make([]byte, size)
		b.noError(b.Complete(b.t.Context(), b.lease(fmt.Sprint("long ", i)), one, nil))
		all = append([]string{one.ID}, all...)
	}
	b.same([][]string{all[:3], all[3:5], all[5:]}, b.pages(func(page []store.Activity) store.Filter {
		filter := store.Filter{Limit: store.MaxList}
		if len(page) > 0 {
			filter.Before = page[len(page)-1].ID
		}
		return filter
	}))
	b.same([][]string{all[4:], all[1:4], all[:1]}, b.pages(func(page []store.Activity) store.Filter {
		filter := store.Filter{Limit: store.MaxList, After: " "}
		if len(page) > 0 {
			filter.After = page[0].ID
		}
		return filter
	}))
}

// pages lists until a page is empty.
func (b *bench) pages(next func(page []store.Activity) store.Filter) (all [][]string) {
	b.t.Helper()
	var page []store.Activity
	for {
		var err error
		page, err = b.List(b.t.Context(), organization, next(page))
		b.noError(err)
		if len(page) == 0 {
			return all
		}
		var ids []string
		for i := range page {
			ids = append(ids, page[i].ID)
		}
		all = append(all, ids)
	}
}

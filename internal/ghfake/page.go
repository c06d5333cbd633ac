package ghfake

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// page answers one page of a list: 30 a page unless asked, 100 at most, the others named in the header Link.
func page(base string, r *http.Request, all []any) answer {
	q := r.URL.Query()
	size := number(q, "per_page", 30)
	if size < 1 || size > 100 {
		size = min(max(size, 1), 100)
	}
	at := max(number(q, "page", 1), 1)
	last := max((len(all)+size-1)/size, 1)
	from := min((at-1)*size, len(all))
	a := reply(http.StatusOK, all[from:min(from+size, len(all))])
	var links []string
	link := func(n int, rel string) {
		q.Set("page", strconv.Itoa(n))
		links = append(links, fmt.Sprintf("<%s%s?%s>; rel=%q", base, r.URL.Path, q.Encode(), rel))
	}
	if at > 1 {
		link(min(at-1, last), "prev")
	}
	if at < last {
		link(at+1, "next")
		link(last, "last")
	}
	if at > 1 {
		link(1, "first")
	}
	if len(links) > 0 {
		a.header.Set("Link", strings.Join(links, ", "))
	}
	return a
}

func number(q url.Values, key string, unless int) int {
	n, err := strconv.Atoi(q.Get(key))
	if err != nil {
		return unless
	}
	return n
}

package report

// Aside is foreign text, such as an error, as one paragraph of Markdown: it mentions nobody, links nowhere and breaks
// nothing.
func Aside(text string) string { return inline(prose(text)) }

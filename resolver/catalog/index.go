package catalog

// Index orders everything that ever changed in one catalog: a later change has
// the greater index. Zero means "none yet"; clients never see it.
type Index uint64

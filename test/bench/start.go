package main

import "context"

func startFigures() []figure {
	const name = "ready on an empty database"
	return []figure{{[]string{name}, func(ctx context.Context, w *world) ([]row, error) {
		times, err := w.starts(ctx, w.turns, func(ctx context.Context) (string, error) { return w.newDatabase(ctx) })
		if err != nil {
			return nil, err
		}
		r := absolute(name, seconds, times, atMost(1))
		r.Note = "migrations included"
		return []row{r}, nil
	}}}
}

// starts a gateway a few times and gives how long each took to be ready, in
// seconds.
func (w *world) starts(ctx context.Context, times int, database func(context.Context) (string, error)) ([]float64, error) {
	var took []float64
	for range times {
		name, err := database(ctx)
		if err != nil {
			return nil, err
		}
		g, err := w.serve(ctx, name)
		if err != nil {
			return nil, err
		}
		took = append(took, g.ready.Seconds())
		w.end(g.process)
	}
	return took, nil
}

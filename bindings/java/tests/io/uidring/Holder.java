package io.uidring;

/** What a program in a container may do: it holds what it has opened for as long as it is there. */
public final class Holder {
    private static UidGenerator uids;
    private static Segments segments;
    private static Series series;
    private static WorkerId worker;

    private Holder() {}

    /** Opens a generator. */
    public static void open(String file) {
        uids = UidGenerator.open(file);
    }

    /** Closes it. */
    public static void close() {
        uids.close();
    }

    /** Opens all there is, and takes from each. Closes it if it is told so. */
    public static String use(String file, boolean isClosed) {
        uids = UidGenerator.open(file);
        segments = Segments.open(file);
        series = Series.open(file);
        worker = WorkerId.lend(file, "shop", 4, loss -> {});
        series.create("tickets", "T-{n:6}");
        long[] taken = {uids.take(), segments.create("rows").take(), segments.take("rows"),
            series.next("tickets").value(), worker.id()};
        if (isClosed) {
            uids.close();
            segments.close();
            series.close();
            worker.close();
        } else {
            uids = null;
            segments = null;
            series = null;
            worker = null;
        }
        return taken.length + " taken";
    }
}

/* Joined items have one root, the smallest of them, whatever the order in which they were joined. */
#include "check.h"

#include "mesh/union_find.h"

#define COUNT 300

static void sets_agree_with_labels_that_are_painted_over(void)
{
    int32_t parents[COUNT], backwards[COUNT], labels[COUNT], pairs[200][2];
    uint64_t seed = 7;
    sn_union_find_init(COUNT, parents);
    sn_union_find_init(COUNT, backwards);
    sn_union_find_init(COUNT, labels);
    for (int i = 0; i < 200; i++) {
        for (int j = 0; j < 2; j++) {
            pairs[i][j] = (int32_t)(COUNT * check_random(&seed));
        }
        int32_t a = labels[pairs[i][0]], b = labels[pairs[i][1]];
        sn_union_find_join(parents, pairs[i][0], pairs[i][1]);
        for (int k = 0; k < COUNT; k++) {
            labels[k] = labels[k] == a || labels[k] == b ? (a < b ? a : b) : labels[k];
        }
    }
    for (int i = 200; i-- > 0;) {
        sn_union_find_join(backwards, pairs[i][1], pairs[i][0]);
    }
    int wrong = 0, roots = 0;
    for (int32_t i = 0; i < COUNT; i++) {
        wrong += sn_union_find_root(parents, i) != labels[i] || sn_union_find_root(backwards, i) != labels[i];
        roots += labels[i] == i;
    }
    CHECK(wrong == 0 && roots > 50 && roots < 200);
}

int main(void)
{
    sets_agree_with_labels_that_are_painted_over();
    return CHECK_RESULT();
}

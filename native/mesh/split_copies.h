/* What the two files of the splitting share, and nobody else includes: the copies of each tet, and which of their corners are one (split_copies.c); split.c
   says what for, and makes the new cage. */
#ifndef SN_MESH_SPLIT_COPIES_H
#define SN_MESH_SPLIT_COPIES_H

#include "mesh/pieces.h"
#include "mesh/split.h"

#define SN_SPLIT_MOST_COPIES 12 /* of one tet; further pieces share the last copy */
#define SN_SPLIT_CHUNKS 16      /* of tets, between two looks at the cancel flag */
#define SN_SPLIT_PER_LOOK 256   /* tets or vertices, where one thread works */

/* What the body does in one tet. */
typedef struct SnContent {
    uint8_t copies;   /* 0: the tet lies between several pieces and holds nothing, so nobody needs it */
    uint8_t pieces;   /* of the body around the tet; 0: the tet is bare */
    uint8_t touched;  /* its copies hold pieces that reach into the tet; else they are only near it */
    uint8_t bound;    /* carries a vertex of the surface */
    int32_t triangle; /* one of the only piece */
} SnContent;

/* The pieces of one tet's copies. */
typedef struct SnAround {
    size_t tet;
    SnPiecesTet shape;
    SnPieces pieces;
    int count;                           /* copies */
    int touched;                         /* the copies' pieces reach into the tet */
    int8_t copies[SN_SPLIT_MOST_COPIES]; /* of each piece: its copy, or -1 */
} SnAround;

/* One for each chunk of a batch, so that no two threads share one. */
typedef struct SnSplitWorker {
    SnContext context;
    SnStatus status;
    SnAround around;
} SnSplitWorker;

typedef struct SnSplit {
    SnContext *context;
    const SnShells *shells;
    const SnLattice *lattice;
    const SnTetMesh *cage;
    double margin;          /* cells */
    SnContent *contents;    /* per tet */
    int32_t *first;         /* tet_count + 1: first copy of each tet */
    int32_t *neighbours;    /* tet_count x 4 */
    int32_t *corners;       /* copy_count x 4, union-find: corners that are one vertex */
    int32_t *groups;        /* copy_count, union-find: copies connected through faces */
    SnSplitWorker *workers; /* SN_SPLIT_CHUNKS */
    SnAround *here, *there;
    size_t batch_start;
} SnSplit;

/* Room for what follows, of the cage's tets. */
SnStatus sn_split_init(SnSplit *split);
void sn_split_clear(SnSplit *split);

/* The place and shape of a tet, in cells. */
void sn_split_shape(const SnSplit *split, size_t tet, SnPiecesTet *shape);

/* The middle of a tet (`without` = 4), or of the face opposite corner 0..3. */
void sn_split_middle(const SnPiecesTet *shape, int without, double middle[3]);

/* Finds the pieces around a tet, and which of them have a copy of it. */
SnStatus sn_split_around(const SnSplit *split, size_t tet, SnAround *around);

/* The copy in whose flesh a point clearly lies: -1 when there is none, or several. */
int sn_split_copy_inside(const SnSplit *split, const SnAround *around, const double point[3]);

/* The copy whose piece is nearest to a point. */
int sn_split_nearest_copy(const SnSplit *split, const SnAround *around, const double point[3]);

/* Copies of two neighbours are of one part: the corners that the tets share become one. */
void sn_split_join(SnSplit *split, size_t tet, int copy, size_t other, int other_copy);

/* Whether two copies have the same four vertices. */
int sn_split_coincide(SnSplit *split, int32_t a, int32_t b);

/* Fills the contents, how many copies each tet has, and joins those that are one. */
SnStatus sn_split_find_copies(SnSplit *split, const SnEmbedding *embedding);

#endif
